import { Channel, pour } from "../../channel.ts";
import type { Clock } from "../../clock.ts";
import { type Recipe, verifierWorkers } from "../../config/index.ts";
import type { ProblemSource } from "../../data/index.ts";
import type { TrainerFace, TrainingBatch } from "../../native/face.ts";
import type { Generations } from "../../native/generations.ts";
import type { DomainName } from "../../records.ts";
import type { PromptFormat } from "../../text/index.ts";
import type { Verifiers } from "../setup/index.ts";
import { PromptEncoder, verificationCalls } from "../setup/index.ts";
import { actorOptions, generateRollouts } from "./actor.ts";
import { AskedVerifiers, verifierStatuses } from "./asked-verifiers.ts";
import { batchGroups } from "./batcher.ts";
import { Books, type BooksParts } from "./books.ts";
import type { LineMoment } from "./diagnosis.ts";
import { type EpisodeStage, liveEpisodes } from "./episode-stage.ts";
import { type GroupHook, type SettledGroup, settleGroups, shapingOptions } from "./grouper.ts";
import { LineProgress } from "./line-progress.ts";
import type { LineState } from "./line-state.ts";
import { type DrawerOptions, drawProblems, mostGroups, ProblemDrawer } from "./problem-drawer.ts";
import { encodePrompts } from "./requested-prompts.ts";
import type { LinePosition } from "./stall-watch.ts";
import { type StepOutcome, trainSteps } from "./step-trainer.ts";
import { verifyGroups } from "./verification.ts";

export interface LineParts {
  readonly recipe: Recipe;
  readonly sources: ReadonlyMap<DomainName, ProblemSource>;
  readonly model: { readonly format: PromptFormat };
  readonly verifiers: Verifiers;
  /** Of the domains that are played in several turns; default: none is. */
  readonly plays?: EpisodeStage["plays"];
  readonly trainer: TrainerFace;
  readonly generations: Generations;
  readonly events: BooksParts["events"];
  readonly unfinished?: BooksParts["unfinished"];
  readonly clock: Clock;
  readonly onGroup?: GroupHook | undefined;
  readonly onSettled?: BooksParts["onSettled"];
  /** Told of every problem that cannot be asked and was passed over. */
  readonly onLeftOut?: DrawerOptions["onLeftOut"];
  readonly reference?: ((batch: TrainingBatch) => Promise<Float32Array>) | undefined;
}

/** The line of docs/the-line.md: `steps` puts its stages end to end. */
export class Line {
  readonly books: Books;
  readonly #parts: LineParts;
  readonly #drawer: ProblemDrawer;
  readonly #encoder: PromptEncoder;
  readonly #firstStep: number;
  readonly #settled = new Channel<SettledGroup>();
  readonly #progress = new LineProgress();
  readonly #verifiers: AskedVerifiers;

  constructor(parts: LineParts, state?: LineState) {
    const { recipe, sources, trainer, onLeftOut } = parts;
    this.#parts = parts;
    this.#firstStep = state?.step ?? 0;
    this.#verifiers = new AskedVerifiers(parts.verifiers, parts.clock);
    const books = { ...parts, domains: [...sources.keys()], version: () => trainer.version };
    // First the trainer gets its next batch, where there is one: drawing and asking the next problems takes longer.
    this.books = new Books({ ...books, whenGiven: (grant) => void setImmediate(grant) }, state);
    const { groupSize, maxPromptTokens } = recipe.rollouts;
    this.#encoder = new PromptEncoder(parts.model.format, maxPromptTokens);
    const faultOf = this.#encoder.fault.bind(this.#encoder);
    const drawing = { groupSize, faultOf, ...(onLeftOut && { onLeftOut }) };
    this.#drawer = new ProblemDrawer(sources, this.books, drawing, state);
  }

  /** Runs the line; one outcome per step. Ending the iteration stops every stage. */
  async *steps(): AsyncGenerator<StepOutcome, void, undefined> {
    const { books } = this;
    const { recipe, model, generations, clock, trainer, onGroup, reference, plays = NONE } = this.#parts;
    const { unfinished } = this.#parts;
    const closing = new AbortController();
    const progress = this.#progress;
    const requests = drawProblems(this.#drawer, books, mostGroups(recipe));
    const prompts = encodePrompts(requests, this.#encoder);
    const rollouts = generateRollouts(prompts, generations, {
      ...actorOptions(recipe, model.format, clock),
      episodes: liveEpisodes(plays, model.format, closing.signal),
      onTokens: (count) => books.generated(count),
      unfinished,
    });
    const judge = this.#verifiers.verify.bind(this.#verifiers);
    const calls = verificationCalls(recipe);
    const judged = verifyGroups(rollouts, judge, progress.verifying, () => calls(this.workers));
    const settled = settleGroups(judged, {
      shaping: shapingOptions(recipe),
      onGroup: onGroup && progress.aroundHook(onGroup),
      onCompletion: (...counts) => {
        progress.moved();
        books.completed(...counts);
      },
    });
    void pour(settled, this.#settled);
    const batches = batchGroups(this.#settled, recipe.training, books);
    try {
      yield* trainSteps(progress.aroundTraining(batches), this.#firstStep, {
        recipe,
        trainer,
        clock,
        engine: generations.engine,
        ...(reference && { reference }),
        afterPublication: ({ credits }) => {
          progress.stepped();
          books.trained(credits);
        },
      });
    } finally {
      this.drain();
      closing.abort();
      generations.abandon();
    }
  }

  /** No new prompts, and no new batch: the step that is running is the last. */
  drain(): void {
    this.books.credits.close();
    this.#settled.end();
  }

  /** Everything a resumed run needs beside the trainer; groups on the line count as never submitted. */
  state(step: number): LineState {
    const books = this.books.saved();
    const outstanding = [...books.outstanding, ...this.#drawer.again];
    return { step, draws: this.#drawer.saved(), ...books, outstanding };
  }

  /** The trainer has a batch, and its new weights are not published yet. */
  get isStepping(): boolean {
    return this.#progress.training;
  }

  /** Problems passed over because they cannot be asked, since the run began. */
  get leftOut(): Readonly<Record<DomainName, number>> {
    return this.#drawer.leftOut;
  }

  /** What waits where, for the metrics. */
  queues(): Record<string, number> {
    return { verifier: this.#progress.verifying.groups, batcher: this.#settled.length };
  }

  /** Processes that judge at the same time, by now. */
  get workers(): number {
    return this.#parts.verifiers.workers ?? verifierWorkers(this.#parts.recipe);
  }

  /** What is known of it at this moment, for whoever watches the run. */
  moment(): LineMoment {
    const { generations, recipe } = this.#parts;
    const { running, waiting, ...engine } = generations.engine.stats();
    const { credits, outstanding } = this.books;
    return {
      training: this.isStepping,
      hook: this.#progress.hook,
      progress: this.position().progress,
      credits: { free: credits.free, total: credits.total },
      outstanding,
      running,
      waiting,
      verifying: this.#progress.verifying.groups,
      ready: this.#settled.length,
      wanted: recipe.training.groupsPerStep,
      verifiers: verifierStatuses(this.#verifiers),
      workers: this.workers,
      engine,
    };
  }

  position(): LinePosition {
    const { generations, verifiers } = this.#parts;
    return this.#progress.position({
      books: this.books,
      engine: generations.engine.stats(),
      verifiers: verifiers.stats(),
      ready: this.#settled.length,
    });
  }
}

const NONE: EpisodeStage["plays"] = new Map();
