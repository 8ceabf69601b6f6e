import { join } from "node:path";
import { HoneError } from "../../errors.ts";
import { RUN_FILES } from "../../metrics/index.ts";
import type { Problem, StepRecord } from "../../records.ts";
import {
  heldByHook,
  Pipeline,
  type PipelinePosition,
  type StepOutcome,
  underWatch,
} from "../pipeline/index.ts";
import {
  type BetweenSteps,
  cutRolloutRecord,
  EventLog,
  openJournal,
  restoredBuffer,
  StepRecorder,
  UnfinishedRollouts,
  type VerdictJournal,
  writeRolloutRecord,
} from "../records/index.ts";
import { ReferenceWeights, type RunState, weightsHash } from "../recovery/index.ts";
import { openCurricula } from "../setup/index.ts";
import { DeferredTask } from "./deferred-task.ts";
import { noteEvents } from "./event-notes.ts";
import { openFrozenPolicies } from "./frozen-policies.ts";
import { batchHook, callHook } from "./hooks.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { pipelineWarnings } from "./pipeline-warnings.ts";
import type { RunContext } from "./run-context.ts";
import type { StepWish } from "./run-interface.ts";
import { type Saved, Saving } from "./saving.ts";
import { failAfterRepeatedErrors } from "./verifier-health.ts";

/** Files written as groups and steps complete. */
interface Records {
  readonly events: EventLog;
  /** The verdict journal; absent if the recipe disables it. */
  readonly journal: VerdictJournal | undefined;
  readonly unfinished: UnfinishedRollouts | undefined;
  /** State in the checkpoint that the run resumes from. */
  readonly before: RunState | undefined;
  readonly referenceStep: () => number | undefined;
}

/** The training loop of a run: trains, records, saves, and handles requests between steps. */
export class Training {
  readonly pipeline: Pipeline;
  readonly #context: RunContext;
  readonly #lifecycle: Lifecycle<Training>;
  readonly #records: Records;
  readonly #recorder: StepRecorder;
  /** The record of the last step, written while the next one trains. */
  readonly #recording = new DeferredTask();
  readonly #saving: Saving;
  /** State in the newest checkpoint. */
  #saved: RunState | undefined;
  /** Set at the end: an abandoned stalled step may continue later, and its outcome is then ignored. */
  #isOver = false;

  constructor(context: RunContext, lifecycle: Lifecycle<Training>, pipeline: Pipeline, records: Records) {
    this.#context = context;
    this.#lifecycle = lifecycle;
    this.#records = records;
    this.#saved = records.before;
    this.pipeline = pipeline;
    this.#saving = new Saving(context);
    this.#recorder = new StepRecorder(sourcesOf(context, pipeline), context.progress.metrics);
  }

  /** Trains to the recipe's last step, or until the run is told to stop. Throws HONE_ERR_STALL if nothing progresses. */
  async run(): Promise<void> {
    const { resources, clock, stop, progress } = this.#context;
    const { recipe, trainer } = resources;
    const draining = () => this.pipeline.drain();
    if (stop.signal.aborted) draining(); // perhaps stopped while a reference was loaded
    stop.signal.addEventListener("abort", draining, { once: true });
    let moves = true;
    try {
      await underWatch(this.#steps(), recipe.training.stallSeconds, clock, () => this.#position());
      await this.#lifecycle.serve(); // requests that no step handled, while the run still owns the folder
      if (!stop.save) return await this.#saving.settle();
      const state = this.#state();
      const weights = weightsHash(await this.#saving.now(state));
      this.#forget(state);
      this.#records.events.add({ e: "end", s: progress.step, v: trainer.version, w: weights });
    } catch (error) {
      moves = !(HoneError.is(error) && error.code === "HONE_ERR_STALL"); // does not wait after a stall, since the write may be what hangs
      throw error;
    } finally {
      this.#isOver = true;
      stop.signal.removeEventListener("abort", draining);
      if (moves) await this.settled(); // reports the error that ended the run before later errors
      this.#recording.flush();
    }
  }

  /** True between steps. A trainer runs its calls in order: a later step cannot change a saved state. */
  get isIdle(): boolean {
    return this.#context.progress.step > 0 && !this.pipeline.isStepping;
  }

  /** Call it between two steps. Resolves when the state is copied; `written` resolves with the path. */
  async save(): Promise<Saved> {
    const state = this.#state();
    const { written } = await this.#saving.begin(state);
    const whole = written.then((path) => {
      this.#saved = state;
      this.#forget(state);
      return path;
    });
    whole.catch(() => {}); // avoids an unhandled rejection: the promise may never be awaited
    return { written: whole };
  }

  /** Resolves when no write is in progress; errors are reported to those who requested the write. */
  readonly settled = (): Promise<void> => this.#saving.settle().catch(() => {});

  #state(): RunState {
    const { resources, progress } = this.#context;
    this.#recording.flush();
    return {
      schema: 1,
      seed: resources.recipe.seed,
      ...this.pipeline.state(progress.step),
      trainingSeconds: progress.seconds.training,
      warmStartSeconds: progress.seconds.warmStart,
      metrics: this.#recorder.history,
      reference: this.#records.referenceStep(),
    };
  }

  /** Drops stored tokens of groups that no run resumed from this state, or from the newest checkpoint, needs. */
  #forget({ draws, outstanding }: Pick<RunState, "draws" | "outstanding">): void {
    const under = new Set([...outstanding, ...(this.#saved?.outstanding ?? [])].map(({ group }) => group));
    this.#records.unfinished?.retain((group) => group >= draws.nextGroup || under.has(group));
  }

  async #steps(): Promise<void> {
    const { clock, progress, resources, stop } = this.#context;
    let begun = clock.now();
    let between: BetweenSteps = { logging: 0, checkpointing: 0 };
    for await (const outcome of this.pipeline.steps()) {
      if (this.#isOver) return;
      progress.step = outcome.step + 1;
      const ended = clock.now();
      progress.seconds.training += (ended - begun) / 1000;
      begun = ended;
      this.#records.events.stepped(outcome);
      const wish = await this.#record(outcome, between);
      if (this.#isOver) return; // the run was abandoned while in a hook
      const logged = clock.now();
      this.#saving.raise(progress.step);
      if (wish === "checkpoint" || checkpointIsDue(this.#context))
        await this.#saving.due(progress.step, async () => (this.#isOver ? undefined : this.save()));
      else if (resources.recipe.checkpoint.everySteps === 0) this.#forget(this.pipeline.state(progress.step));
      await this.#lifecycle.serve();
      between = { logging: (logged - ended) / 1000, checkpointing: (clock.now() - logged) / 1000 };
      if (wish === "stop") stop.request("stopped", { save: true });
      if (stop.signal.aborted || this.#isOver) return; // the run was abandoned while saving
    }
  }

  /** Defers the record, unless a hook needs it before the run continues; returns the hook's result. */
  async #record(outcome: StepOutcome, before: BetweenSteps): Promise<StepWish> {
    const { options, publisher, resources, progress, clock } = this.#context;
    const spent = { ...before, checkpoint: this.#saving.takeSeconds() };
    const gathered = this.#recorder.gather(outcome, spent, progress.evaluated);
    progress.evaluated = undefined;
    const endedAt = Date.now();
    const times = { endedAt, epochMs: endedAt - clock.now() };
    let latest: StepRecord | undefined;
    this.#recording.defer(() => {
      this.#recorder.record(gathered, (record) => {
        latest = record;
        if (resources.recipe.rollouts.record !== false)
          writeRolloutRecord(options.dir, resources.recipe, outcome);
        this.#records.journal?.taken(outcome.batch.groups, record.step);
        publisher.step(record, outcome, times);
        this.#records.events.flush();
      });
    });
    if (options.hooks?.afterStep === undefined) return undefined;
    this.#recording.flush();
    return callHook(this.#context, this.#lifecycle, "afterStep", ({ afterStep }) => afterStep?.(latest!));
  }

  /** Position for stall detection; undefined while the run is paused. */
  #position(): PipelinePosition | undefined {
    const { paused, stage } = this.#lifecycle;
    if (paused) return undefined;
    return stage.at === "hook" ? heldByHook(this.pipeline.position(), stage.hook) : this.pipeline.position();
  }
}

/** Sources of a step's record. */
function sourcesOf(context: RunContext, pipeline: Pipeline): ConstructorParameters<typeof StepRecorder>[0] {
  const { resources, clock, publisher } = context;
  return {
    recipe: resources.recipe,
    pipeline,
    clock,
    engineStats: () => resources.generations.engine.stats(),
    verifierStats: () => resources.verifiers.stats(),
    deliveries: () => publisher.deliveries,
    processes: () => othersOf(context.processes),
  };
}

function checkpointIsDue({ resources, progress }: RunContext): boolean {
  const { checkpoint, training } = resources.recipe;
  const last = progress.step >= training.steps; // the last step is saved at the end of the run
  return checkpoint.everySteps > 0 && progress.step % checkpoint.everySteps === 0 && !last;
}

/**
 * Opens the run's records and its pipeline, trains, and closes them. @param state state of the checkpoint
 * that the run resumes from.
 */
export async function train(
  context: RunContext,
  lifecycle: Lifecycle<Training>,
  state: RunState | undefined,
): Promise<void> {
  const { resources, options, clock, checkpoints, publisher, progress } = context;
  const { recipe, verifiers } = resources;
  const goesOn = state !== undefined;
  const events = new EventLog(join(options.dir, RUN_FILES.events), goesOn);
  try {
    events.add(goesOn ? { e: "resume", s: state.step, c: recipe } : { e: "start", c: recipe });
    cutRolloutRecord(options.dir, progress.step);
    using _ = noteEvents(publisher.listeners, events, progress, context.asked);
    const warn = (message: string) => publisher.warn(message);
    const decode = (tokens: Int32Array) => resources.model.tokenizer.decode(tokens);
    const placeOf = ({ domain, id }: Problem) => resources.sources.get(domain)?.placeOf?.(id);
    const journalOptions = { append: goesOn, stepsBefore: progress.step, decode, placeOf };
    using journal = openJournal(recipe, options.dir, journalOptions);
    using unfinished = UnfinishedRollouts.open(
      join(options.dir, RUN_FILES.unfinished),
      recipe,
      goesOn ? resources.trainer.version : undefined,
    );
    const kept = new ReferenceWeights(checkpoints.directory);
    kept.cut(progress.step);
    const refreshes = { kept, last: state?.reference, oldest: () => checkpoints.oldest };
    await using frozen = await openFrozenPolicies(resources, checkpoints, refreshes);
    const parts = {
      ...resources,
      events,
      unfinished,
      clock,
      ...pipelineWarnings(recipe, resources, warn),
      verifiers: failAfterRepeatedErrors(journal?.around(verifiers) ?? verifiers, recipe, warn),
      onGroup: options.hooks?.onGroup,
      onBatch: batchHook(context),
      curricula: await openCurricula(recipe, resources.sources),
      frozen,
      buffer: await restoredBuffer(options.dir, recipe, progress.step),
    };
    const training = new Training(context, lifecycle, new Pipeline(parts, state), {
      events,
      journal,
      unfinished,
      before: state,
      referenceStep: frozen.referenceStep,
    });
    lifecycle.beginTraining(training);
    if (lifecycle.paused) training.pipeline.accounting.credits.pause();
    publisher.listeners.emit("phase", "training", recipe.training.steps);
    await training.run();
  } finally {
    events.close();
  }
}

/** Error for a request to save a run that does not train yet. */
export function nothingToSave(dir: string): HoneError {
  return new HoneError("HONE_ERR_STATE", `${dir}: a run that does not train yet has no state to save`, {
    hint: 'Ask after the first step, or let hooks.afterStep return "checkpoint".',
  });
}

/** Process ids of the run's live processes, without this process. */
const othersOf = (processes: RunContext["processes"]): number[] =>
  processes.flatMap(({ pid }) => (pid === undefined || pid === process.pid ? [] : [pid]));
