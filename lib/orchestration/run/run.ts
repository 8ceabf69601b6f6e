import { join } from "node:path";
import { Channel } from "../../channel.ts";
import { systemClock } from "../../clock.ts";
import { definedRecipe, type Recipe } from "../../config/index.ts";
import { deferred } from "../../deferred.ts";
import { HoneError } from "../../errors.ts";
import { openSinks, type Sink } from "../../metrics/index.ts";
import type { StepRecord } from "../../records.ts";
import { heldByHook, Line, nameRollout, type StepOutcome, underWatch } from "../line/index.ts";
import {
  type BetweenSteps,
  cutRolloutRecord,
  EVENT_LOG,
  EventLog,
  openJournal,
  StepRecorder,
  writeRolloutRecord,
} from "../records/index.ts";
import {
  Checkpoints,
  claimRunFolder,
  expectSeed,
  prepareRunFolder,
  type RunState,
  runClock,
  weightsHash,
} from "../recovery/index.ts";
import { expectRunnable, nativeCore, openResources, type RunResources } from "../setup/index.ts";
import { Announcer } from "./announcer.ts";
import { unlessStopped } from "./hook-grace.ts";
import { Later } from "./later.ts";
import { lineWarnings } from "./line-warnings.ts";
import { openReference } from "./reference-policy.ts";
import type { PinnedPolicy, Run, RunEnd, RunEvents, RunOptions, RunOutcome, StepWish } from "./run-face.ts";
import { prepareWeights, willWarmUp } from "./starting-weights.ts";
import { refuseIfHopeless } from "./verifier-health.ts";
import { expectDemonstrations } from "./warm-start.ts";

const BUFFERED_RECORDS = 1000;

/**
 * Starts a run; it goes on by itself. Throws before anything runs if the recipe does not fit the core or the
 * data, or the folder cannot be written or belongs to another run.
 */
export async function createRun(given: Recipe, options: RunOptions): Promise<Run> {
  const recipe = definedRecipe(given, "createRun");
  const core = options.core ?? (await nativeCore());
  expectRunnable(recipe, core.info());
  const lock = await claimRunFolder(options);
  let resources: RunResources | undefined;
  try {
    resources = await openResources(recipe, core, options.verifiers, runClock(options));
    if (willWarmUp(recipe, options)) expectDemonstrations(recipe, resources.model);
    const changes = prepareRunFolder(options.dir, options.resume ?? "never", resources);
    const sinks = [...openSinks(recipe.sinks, options.dir), ...(options.sinks ?? [])];
    const run = new LiveRun(resources, sinks, options, { lock, changes });
    run.start();
    return run;
  } catch (error) {
    lock[Symbol.dispose]();
    await resources?.[Symbol.asyncDispose]();
    throw error;
  }
}

/** The folder as the run found it: its own from now on, and what the recipe says otherwise than the sitting before. */
interface Tenancy {
  readonly lock: Disposable;
  readonly changes: readonly string[];
}

class LiveRun implements Run {
  readonly recipe: Recipe;
  readonly dir: string;
  readonly finished: Promise<RunOutcome>;
  readonly seconds = { warmStart: 0, training: 0 };
  step = 0;
  missedRecords = 0;
  readonly #resources: RunResources;
  readonly #options: RunOptions;
  readonly #tenancy: Tenancy;
  readonly #sinks: readonly Sink[];
  readonly #checkpoints: Checkpoints;
  readonly #clock;
  readonly #listeners = new Announcer();
  readonly #records = new Channel<StepRecord>();
  readonly #settle: { resolve: (outcome: RunOutcome) => void; reject: (error: unknown) => void };
  readonly #stopping = new AbortController();
  /** The record of the last step, written while the next one trains. */
  readonly #recording = new Later();
  #end: RunEnd = "done";
  #saveAtEnd = true;
  #requests: (() => Promise<void>)[] = [];
  #line: Line | undefined;
  #recorder: StepRecorder | undefined;
  #metrics: unknown;
  #over = false;
  #paused = false;
  /** A hook has the word, and no step is running. */
  #inHook = false;
  /** Tokens of earlier sittings. */
  #before = { generated: 0, trained: 0 };

  constructor(resources: RunResources, sinks: readonly Sink[], options: RunOptions, tenancy: Tenancy) {
    this.recipe = resources.recipe;
    this.dir = options.dir;
    this.#resources = resources;
    this.#options = options;
    this.#tenancy = tenancy;
    this.#sinks = sinks;
    this.#clock = options.clock ?? systemClock;
    this.#checkpoints = new Checkpoints(options.dir, resources.recipe.checkpoint.keepLast);
    const { promise, resolve, reject } = deferred<RunOutcome>();
    this.finished = promise;
    this.#settle = { resolve, reject };
    promise.catch(() => {}); // whoever looks gets it; whoever iterates gets it too
  }

  get generatedTokens(): number {
    return this.#line?.books.generatedTokens ?? this.#before.generated;
  }

  get trainedTokens(): number {
    return this.#line?.books.trainedTokens ?? this.#before.trained;
  }

  start(): void {
    const { signal } = this.#options;
    const abort = () => this.#requestStop("aborted", true);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    this.#drive()
      .finally(() => this.#tenancy.lock[Symbol.dispose]())
      .then((outcome) => {
        this.#records.end();
        this.#settle.resolve(outcome);
      })
      .catch((error: unknown) => {
        this.#records.fail(error);
        this.#settle.reject(error);
      })
      .finally(() => {
        signal?.removeEventListener("abort", abort);
        this.#over = true;
        void this.#serveRequests();
      });
  }

  on<E extends keyof RunEvents>(event: E, listener: (...args: RunEvents[E]) => void): () => void {
    return this.#listeners.on(event, listener);
  }

  pause(): void {
    this.#paused = true;
    this.#line?.books.credits.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#line?.books.credits.resume();
  }

  checkpoint(): Promise<string> {
    return this.#betweenSteps(() => this.#save());
  }

  pin(): Promise<PinnedPolicy> {
    return this.#betweenSteps(() => this.#pin());
  }

  stop({ save = true } = {}): Promise<RunOutcome> {
    this.#requestStop("stopped", save);
    return this.finished;
  }

  [Symbol.asyncIterator](): AsyncIterator<StepRecord> {
    return this.#records[Symbol.asyncIterator]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#over) this.#requestStop("stopped", true);
    await this.finished.catch(() => {});
    for (const sink of this.#sinks) sink.close();
    await this.#resources[Symbol.asyncDispose]();
  }

  async #drive(): Promise<RunOutcome> {
    const state = await this.#restore();
    if (state === undefined) {
      const parts = { resources: this.#resources, checkpoints: this.#checkpoints, clock: this.#clock };
      const to = { signal: this.#stopping.signal, listeners: this.#listeners };
      this.seconds.warmStart = await prepareWeights(parts, this.#options, to);
    }
    await this.#resources.trainer.publish(this.#resources.generations.engine);
    await this.#inHookOf("beforeTraining", ({ beforeTraining }) => beforeTraining?.(this));
    await this.#train(state);
    this.#emit("phase", "done", 0);
    return { reason: this.#end, steps: this.step, version: this.#resources.trainer.version };
  }

  /** From a checkpoint, if the run is to go on from one. */
  async #restore(): Promise<RunState | undefined> {
    const { resume = "never" } = this.#options;
    if (resume === "never") return undefined;
    const { trainer } = this.#resources;
    const state =
      resume === "auto"
        ? await this.#checkpoints.loadNewest(trainer, (message) => this.#emit("warning", message))
        : await this.#checkpoints.load(trainer, resume);
    if (state === undefined) return undefined;
    expectSeed(state, this.recipe);
    const later = this.#checkpoints.setAside(state.step);
    if (later.length > 0)
      this.#emit("warning", `set aside, being later than step ${state.step}: ${later.join(", ")}`);
    for (const change of this.#tenancy.changes) this.#emit("warning", `the recipe has changed: ${change}`);
    this.step = state.step;
    this.seconds.warmStart = state.warmStartSeconds;
    this.seconds.training = state.trainingSeconds;
    this.#metrics = state.metrics;
    const trained = Object.values(state.ledger).reduce((sum, { trainedTokens }) => sum + trainedTokens, 0);
    this.#before = { generated: state.generatedTokens, trained };
    return state;
  }

  async #train(state: RunState | undefined): Promise<void> {
    const { recipe, trainer, generations } = this.#resources;
    if (this.#stopping.signal.aborted) return;
    const events = new EventLog(join(this.dir, EVENT_LOG), state !== undefined);
    events.add(state ? { e: "resume", s: state.step, c: recipe } : { e: "start", c: recipe });
    cutRolloutRecord(this.dir, this.step);
    const { verifiers } = this.#resources;
    const warn = (message: string) => this.#emit("warning", message);
    using journal = openJournal(recipe, this.dir, state !== undefined);
    await using reference = await openReference(this.#resources, this.#checkpoints);
    const line = new Line(
      {
        ...this.#resources,
        ...{ trainer, events, clock: this.#clock },
        verifiers: refuseIfHopeless(journal?.around(verifiers) ?? verifiers, recipe, warn),
        ...lineWarnings(recipe, warn),
        onGroup: this.#options.hooks?.onGroup,
        ...(reference && { reference: reference.score }),
      },
      state,
    );
    this.#line = line;
    if (this.#paused) line.books.credits.pause();
    this.#recorder = new StepRecorder(
      {
        ...{ recipe, line, clock: this.#clock },
        engineStats: () => generations.engine.stats(),
        verifierStats: () => this.#resources.verifiers.stats(),
      },
      this.#metrics,
    );
    this.#emit("phase", "training", recipe.training.steps);
    const draining = () => line.drain();
    this.#stopping.signal.addEventListener("abort", draining, { once: true });
    try {
      const position = () => {
        if (this.#paused) return undefined;
        return this.#inHook ? heldByHook(line.position(), "afterStep") : line.position();
      };
      await underWatch(this.#steps(line, events), recipe.training.stallSeconds, this.#clock, position);
      if (this.#saveAtEnd) {
        const path = await this.#save();
        events.add({ e: "end", s: this.step, v: trainer.version, w: weightsHash(path) });
      }
    } finally {
      this.#stopping.signal.removeEventListener("abort", draining);
      this.#recording.settle();
      events.close();
    }
  }

  async #steps(line: Line, events: EventLog): Promise<void> {
    let begun = this.#clock.now();
    let between: BetweenSteps = { logging: 0, checkpointing: 0 };
    for await (const outcome of line.steps()) {
      this.step = outcome.step + 1;
      const ended = this.#clock.now();
      this.seconds.training += (ended - begun) / 1000;
      begun = ended;
      events.stepped(outcome);
      const wish = await this.#recordStep(outcome, between, events);
      const logged = this.#clock.now();
      const { everySteps } = this.recipe.checkpoint;
      const last = this.step >= this.recipe.training.steps;
      if (wish === "checkpoint" || (everySteps > 0 && this.step % everySteps === 0 && !last))
        await this.#save();
      await this.#serveRequests();
      between = { logging: (logged - ended) / 1000, checkpointing: (this.#clock.now() - logged) / 1000 };
      if (wish === "stop") this.#requestStop("stopped", true);
      if (this.#stopping.signal.aborted) return;
    }
  }

  /** Leaves the record for later, unless a hook wants to see it before the run goes on; returns what the hook wishes. */
  async #recordStep(outcome: StepOutcome, before: BetweenSteps, events: EventLog): Promise<StepWish> {
    const facts = this.#recorder!.gather(outcome, before);
    let latest: StepRecord | undefined;
    this.#recording.defer(() => {
      this.#recorder!.record(facts, (record) => {
        latest = record;
        if (this.recipe.rollouts.record) writeRolloutRecord(this.dir, this.recipe, outcome);
        this.#publish(record, outcome);
        events.flush();
      });
    });
    if (this.#options.hooks?.afterStep === undefined) return undefined;
    this.#recording.settle();
    return this.#inHookOf("afterStep", ({ afterStep }) => afterStep?.(latest!));
  }

  /** Lets a hook speak, unless the run is told to stop: then no longer than it takes a hook to notice. */
  async #inHookOf<T>(
    name: string,
    call: (hooks: NonNullable<RunOptions["hooks"]>) => T | PromiseLike<T>,
  ): Promise<Awaited<T> | undefined> {
    const { signal } = this.#stopping;
    if (signal.aborted && name === "beforeTraining") return undefined;
    const left = (ms: number) =>
      this.#emit("warning", `hook ${name} has not returned ${ms / 1000} s after the stop: left behind`);
    this.#inHook = true;
    try {
      return (await unlessStopped(call(this.#options.hooks ?? {}), signal, left)) as Awaited<T> | undefined;
    } finally {
      this.#inHook = false;
    }
  }

  #publish(record: StepRecord, { batch, trained }: StepOutcome): void {
    for (const sink of this.#sinks) sink.write(record);
    if (this.#records.length < BUFFERED_RECORDS) this.#records.push(record);
    else this.missedRecords += 1;
    if (this.#listeners.hears("group"))
      for (const { request, group } of batch.groups)
        this.#emit("group", group, { id: request.group, step: record.step });
    this.#emit("step", record);
    if (trained?.report.skipped) {
      const whose =
        trained.culprit === undefined ? "" : `; the loss of ${nameRollout(trained.culprit)} was not finite`;
      this.#emit("warning", `step ${record.step} was skipped${whose}`);
    }
  }

  async #save(): Promise<string> {
    const line = this.#line;
    if (line === undefined) {
      throw new HoneError(
        "HONE_ERR_STATE",
        `${this.dir}: a run that does not train yet has no state to save`,
        {
          hint: 'Ask after the first step, or let hooks.afterStep return "checkpoint".',
        },
      );
    }
    this.#recording.settle();
    const state = {
      schema: 1 as const,
      seed: this.recipe.seed,
      ...line.state(this.step),
      trainingSeconds: this.seconds.training,
      warmStartSeconds: this.seconds.warmStart,
      metrics: this.#recorder?.history,
    };
    const path = await this.#checkpoints.save(this.#resources.trainer, state as RunState);
    this.#emit("checkpoint", path, this.step);
    return path;
  }

  async #pin(): Promise<PinnedPolicy> {
    const { recipe, model, sources, verifiers, trainer } = this.#resources;
    const generations = this.#resources.openGenerations();
    const version = await trainer.publish(generations.engine);
    const close = () => generations.close();
    return { version, recipe, generations, model, sources, verifiers, [Symbol.asyncDispose]: close };
  }

  /** Runs work at once where no step can be in the way, otherwise after the running one. */
  #betweenSteps<T>(work: () => Promise<T>): Promise<T> {
    if (this.#over || this.#inHook || this.#line === undefined) return work();
    const { promise, resolve, reject } = deferred<T>();
    this.#requests.push(() => work().then(resolve, reject));
    return promise;
  }

  async #serveRequests(): Promise<void> {
    for (const serve of this.#requests.splice(0)) await serve();
  }

  #requestStop(end: RunEnd, save: boolean): void {
    if (this.#over || this.#stopping.signal.aborted) return;
    this.#end = end;
    this.#saveAtEnd = save;
    this.#stopping.abort();
  }

  #emit<E extends keyof RunEvents>(event: E, ...args: RunEvents[E]): void {
    this.#listeners.emit(event, ...args);
  }
}
