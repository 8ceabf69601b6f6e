import type { Clock } from "../../clock.ts";
import { type Recipe, verifierWorkers } from "../../config/index.ts";
import type { ProblemSource } from "../../data/index.ts";
import type { CurriculumFacts } from "../../metrics/index.ts";
import type { TrainerFace } from "../../native/face.ts";
import type { Generations } from "../../native/generations.ts";
import type { DomainName } from "../../records.ts";
import { Channel, pour } from "../../shared/async/channel.ts";
import type { PromptFormat } from "../../text/index.ts";
import type { Curriculum, Verifiers } from "../setup/index.ts";
import { PromptEncoder, verificationCalls } from "../setup/index.ts";
import { actorOptions, generateRollouts } from "./actor.ts";
import { AskedVerifiers, verifierStatuses } from "./asked-verifiers.ts";
import { type BatchHook, weighBatches } from "./batch-advantages.ts";
import { batchGroups } from "./batcher.ts";
import type { PipelineSnapshot } from "./diagnosis.ts";
import { EntropyControl } from "./entropy-control.ts";
import { type EpisodeStage, liveEpisodes } from "./episode-stage.ts";
import { type AccountingParts, GroupAccounting } from "./group-accounting.ts";
import { type GroupHook, type SettledGroup, settleGroups, shapingOptions } from "./grouper.ts";
import { PipelineProgress } from "./pipeline-progress.ts";
import type { PipelineState } from "./pipeline-state.ts";
import { ProblemChooser } from "./problem-chooser.ts";
import { type DrawerOptions, drawProblems, mostGroups, ProblemDrawer } from "./problem-drawer.ts";
import { ReplayBuffer } from "./replay-buffer.ts";
import { encodePrompts } from "./requested-prompts.ts";
import type { PipelinePosition } from "./stall-watch.ts";
import { type FrozenScores, type StepOutcome, trainSteps } from "./step-trainer.ts";
import { verifyGroups } from "./verification.ts";

export interface PipelineParts {
  readonly recipe: Recipe;
  readonly sources: ReadonlyMap<DomainName, ProblemSource>;
  readonly model: { readonly format: PromptFormat };
  readonly verifiers: Verifiers;
  /** How multi-turn domains are played, by domain. Default: no domain is multi-turn. */
  readonly plays?: EpisodeStage["plays"];
  readonly trainer: TrainerFace;
  readonly generations: Generations;
  readonly events: AccountingParts["events"];
  readonly unfinished?: AccountingParts["unfinished"];
  readonly clock: Clock;
  readonly onGroup?: GroupHook | undefined;
  readonly onBatch?: BatchHook | undefined;
  readonly onSettled?: AccountingParts["onSettled"];
  /** Called with every problem that cannot be prompted and was skipped. */
  readonly onLeftOut?: DrawerOptions["onLeftOut"];
  readonly frozen?: FrozenScores;
  /** Buffer with the groups of the previous steps. Default: empty. */
  readonly buffer?: ReplayBuffer;
  /** Curricula by domain, for those that have one. */
  readonly curricula?: ReadonlyMap<DomainName, Curriculum>;
}

/** The pipeline of docs/explanation/the-line.md: `steps` connects its stages. */
export class Pipeline {
  readonly accounting: GroupAccounting;
  readonly #parts: PipelineParts;
  readonly #drawer: ProblemDrawer;
  readonly #choosers: ReadonlyMap<DomainName, ProblemChooser>;
  readonly #encoder: PromptEncoder;
  readonly #firstStep: number;
  readonly #settled = new Channel<SettledGroup>();
  readonly #progress = new PipelineProgress();
  readonly #verifiers: AskedVerifiers;
  readonly #entropy: EntropyControl;

  constructor(parts: PipelineParts, state?: PipelineState) {
    const { recipe, sources, trainer, onLeftOut } = parts;
    this.#parts = parts;
    this.#firstStep = state?.step ?? 0;
    this.#entropy = new EntropyControl(recipe.objective, state?.entropy);
    this.#verifiers = new AskedVerifiers(parts.verifiers, parts.clock);
    this.#choosers = choosersOf(parts, state);
    const onSettled = taughtBy(this.#choosers, parts.onSettled);
    const accounting = { ...parts, onSettled, domains: [...sources.keys()], version: () => trainer.version };
    // The trainer gets its next batch first: drawing and submitting the next problems takes longer.
    const whenGiven = (grant: () => void) => void setImmediate(grant);
    this.accounting = new GroupAccounting({ ...accounting, whenGiven }, state);
    const { groupSize, maxPromptTokens } = recipe.rollouts;
    this.#encoder = new PromptEncoder(parts.model.format, maxPromptTokens);
    const faultOf = this.#encoder.fault.bind(this.#encoder);
    const drawing = { groupSize, faultOf, choosers: this.#choosers, ...(onLeftOut && { onLeftOut }) };
    this.#drawer = new ProblemDrawer(sources, this.accounting, drawing, state);
  }

  /** Runs the pipeline; one outcome per step. Ending the iteration stops every stage. */
  async *steps(): AsyncGenerator<StepOutcome, void, undefined> {
    const { accounting } = this;
    const { recipe, model, generations, clock, trainer, frozen, plays = NONE } = this.#parts;
    const { onGroup, onBatch, unfinished } = this.#parts;
    const closing = new AbortController();
    const progress = this.#progress;
    const prompts = encodePrompts(drawProblems(this.#drawer, accounting, mostGroups(recipe)), this.#encoder);
    const rollouts = generateRollouts(prompts, generations, {
      ...actorOptions(recipe, model.format, clock),
      episodes: liveEpisodes(plays, model.format, closing.signal),
      onTokens: (count) => accounting.generated(count),
      unfinished,
    });
    const judge = this.#verifiers.verify.bind(this.#verifiers);
    const calls = verificationCalls(recipe);
    const judged = verifyGroups(rollouts, judge, progress.verifying, () => calls(this.workers));
    const shaping = shapingOptions(recipe);
    const settled = settleGroups(judged, {
      shaping,
      onGroup: onGroup && progress.aroundHook("onGroup", onGroup),
      onCompletion: (...counts) => {
        progress.moved();
        accounting.completed(...counts);
      },
    });
    void pour(settled, this.#settled);
    const batches = progress.aroundTraining(batchGroups(this.#settled, recipe.training, accounting));
    const weighed = weighBatches(batches, shaping, onBatch && progress.aroundHook("onBatch", onBatch));
    try {
      yield* trainSteps(weighed, this.#firstStep, {
        recipe,
        trainer,
        clock,
        engine: generations.engine,
        entropy: this.#entropy,
        buffer: this.#parts.buffer ?? new ReplayBuffer(recipe),
        ...(frozen && { frozen }),
        afterPublication: ({ credits, replayed = [] }) => {
          progress.stepped();
          accounting.trained(credits, replayed);
        },
      });
    } finally {
      this.drain();
      closing.abort();
      generations.abandon();
    }
  }

  /** Stops new prompts and new batches: the running step is the last. */
  drain(): void {
    this.accounting.credits.close();
    this.#settled.end();
  }

  /** All that a resumed run needs besides the trainer; groups in the pipeline count as never submitted. */
  state(step: number): PipelineState {
    const accounting = this.accounting.saved();
    const outstanding = [...accounting.outstanding, ...this.#drawer.again];
    return { step, draws: this.#drawer.saved(), ...accounting, outstanding, entropy: this.#entropy.saved() };
  }

  /** The trainer has a batch, and its new weights are not published yet. */
  get isStepping(): boolean {
    return this.#progress.training;
  }

  /** Number of problems skipped since the run began because they cannot be prompted, by domain. */
  get leftOut(): Readonly<Record<DomainName, number>> {
    return this.#drawer.leftOut;
  }

  /** State of each curriculum, for domains that have one. */
  get curricula(): Readonly<Record<DomainName, CurriculumFacts>> {
    return Object.fromEntries([...this.#choosers].map(([domain, chooser]) => [domain, chooser.facts()]));
  }

  /** Queue lengths, for the metrics. */
  queues(): Record<string, number> {
    return { verifier: this.#progress.verifying.groups, batcher: this.#settled.length };
  }

  /** Current number of processes that judge at the same time. */
  get workers(): number {
    return this.#parts.verifiers.workers ?? verifierWorkers(this.#parts.recipe);
  }

  /** Returns the pipeline's current state, for status displays. */
  snapshot(): PipelineSnapshot {
    const { generations, recipe } = this.#parts;
    const { running, waiting, ...engine } = generations.engine.stats();
    const { credits, outstanding } = this.accounting;
    return {
      training: this.isStepping && this.#progress.hook === undefined,
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

  position(): PipelinePosition {
    return this.#progress.position({
      accounting: this.accounting,
      engine: this.#parts.generations.engine.stats(),
      verifiers: this.#parts.verifiers.stats(),
      ready: this.#settled.length,
    });
  }
}

/** Reports settled groups to their domain's chooser, and then to `others`. */
const taughtBy =
  (choosers: ReadonlyMap<DomainName, ProblemChooser>, others: AccountingParts["onSettled"]) =>
  (settled: SettledGroup, step: number): void => {
    choosers.get(settled.request.domain)?.settled(settled, step);
    others?.(settled, step);
  };

/** A chooser for every domain with a curriculum, as the checkpoint left it. */
function choosersOf(
  { recipe, curricula = new Map() }: PipelineParts,
  state: PipelineState | undefined,
): Map<DomainName, ProblemChooser> {
  const domains = Object.keys(recipe.domains);
  return new Map(
    [...curricula].map(([domain, curriculum]) => {
      const place = { seed: recipe.seed, ordinal: domains.indexOf(domain) };
      const outstanding = (state?.outstanding ?? []).filter((group) => group.domain === domain);
      const indices = outstanding.map(({ index }) => index);
      return [domain, new ProblemChooser(curriculum, place, state?.draws.choices?.[domain], indices)];
    }),
  );
}

const NONE: EpisodeStage["plays"] = new Map();
