import { existsSync, rmdirSync } from "node:fs";
import { systemClock } from "../../clock.ts";
import { definedRecipe, type Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import { type EvaluationFacts, openSinks, type Sink } from "../../metrics/index.ts";
import type { TrainerFace } from "../../native/face.ts";
import type { StepRecord } from "../../records.ts";
import { deferred } from "../../shared/async/deferred.ts";
import { beginSession, openTrackers, sends } from "../../trackers/index.ts";
import { openSlopes } from "../pipeline/index.ts";
import {
  Checkpoints,
  claimRunFolder,
  keptArithmetic,
  keptMasking,
  keptStorage,
  prepareRunFolder,
  recordedCommits,
  recordedHeldOut,
  runClock,
} from "../recovery/index.ts";
import {
  expectEnvironments,
  expectRewards,
  expectRunnable,
  nativeCore,
  openResources,
  type RunResources,
} from "../setup/index.ts";
import { callHook } from "./hooks.ts";
import { Lifecycle } from "./lifecycle.ts";
import { Publisher } from "./publisher.ts";
import type { RunContext } from "./run-context.ts";
import type { PinnedPolicy, Run, RunEvents, RunOptions, RunOutcome } from "./run-interface.ts";
import { prepareWeights, restoreRun, willWarmUp } from "./starting-weights.ts";
import { StatusWriter } from "./status-writer.ts";
import { StopRequest } from "./stop-request.ts";
import { nothingToSave, type Training, train } from "./training.ts";
import { expectDemonstrations } from "./warm-start.ts";

/**
 * Starts a run; it goes on by itself. Throws before anything runs if the recipe does not fit the core or the
 * data, or the folder cannot be written or belongs to another run.
 */
export async function createRun(given: Recipe, options: RunOptions): Promise<Run> {
  const recipe = definedRecipe(given, "createRun");
  const core = options.core ?? (await ownCore(recipe));
  expectRunnable(recipe, core.info(), core.processes !== undefined);
  if (options.verifiers === undefined) expectRewards(recipe);
  expectEnvironments(recipe);
  await openSlopes(recipe); // throws before anything starts
  const isNew = !existsSync(options.dir);
  const lock = await claimRunFolder(options);
  let resources: RunResources | undefined;
  try {
    resources = await openResources(recipe, core, options.verifiers, {
      clock: runClock(options),
      heldOut: recordedHeldOut(options),
      commits: recordedCommits(options),
      arithmetic: keptArithmetic(recipe, options),
      weightStorage: keptStorage(recipe, options),
      maskPadding: keptMasking(options),
    });
    if (willWarmUp(recipe, options)) await expectDemonstrations(recipe, resources);
    const changes = prepareRunFolder(options.dir, options.resume ?? "never", resources);
    const publisher: Publisher = new Publisher(openAllSinks(recipe, options, (text) => publisher.warn(text)));
    const context = {
      resources,
      options,
      stop: new StopRequest(),
      publisher,
      clock: options.clock ?? systemClock,
      checkpoints: new Checkpoints(options.dir, recipe.checkpoint),
      progress: {
        step: 0,
        seconds: { warmStart: 0, training: 0 },
        before: { generated: 0, trained: 0 },
        metrics: undefined,
        evaluated: undefined,
      },
      asked: [],
      processes: [],
    };
    const run = new LiveRun(context, lock);
    run.start(changes);
    return run;
  } catch (error) {
    lock[Symbol.dispose]();
    await resources?.[Symbol.asyncDispose]();
    if (isNew) removeEmpty(options.dir);
    throw error;
  }
}

/** Removes the folder if it is empty. */
function removeEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // something was written before the error
  }
}

/** Opens the core of a recipe for one process; for a recipe of several, the caller of createRun opens the processes. */
function ownCore({ name, hardware }: Recipe): ReturnType<typeof nativeCore> {
  if (hardware?.processes === undefined) return nativeCore();
  throw new HoneError(
    "HONE_ERR_UNSUPPORTED",
    `${name}: createRun starts no processes of hardware.processes`,
    {
      hint: "Run the recipe with `hone run` or trainAndEvaluate, which start these processes, or leave the field out.",
    },
  );
}

/** Opens the sinks of the run's folder, of the recipe's trackers, and of the caller. */
function openAllSinks(recipe: Recipe, { dir, sinks = [] }: RunOptions, warn: (text: string) => void): Sink[] {
  const own = sinks.filter(sends);
  const writing = sinks.filter((sink) => !sends(sink)) as Sink[];
  const open = [...openSinks(recipe.sinks, dir), ...writing];
  if (recipe.trackers.length === 0 && own.length === 0) return open;
  return [...open, ...openTrackers(recipe.trackers, own, beginSession(dir, recipe), { warn })];
}

const accountingOf = (lifecycle: Lifecycle<Training>) => lifecycle.training?.pipeline.accounting;

class LiveRun implements Run {
  readonly finished: Promise<RunOutcome>;
  readonly #context: RunContext;
  readonly #lock: Disposable;
  readonly #lifecycle = new Lifecycle<Training>();
  readonly #outcome = deferred<RunOutcome>();

  constructor(context: RunContext, lock: Disposable) {
    this.#context = context;
    this.#lock = lock;
    this.finished = this.#outcome.promise;
    this.finished.catch(() => {}); // awaiting `finished` and iterating both receive the error
  }

  get recipe(): Recipe {
    return this.#context.resources.recipe;
  }

  get dir(): string {
    return this.#context.options.dir;
  }

  get step(): number {
    return this.#context.progress.step;
  }

  get seconds(): Run["seconds"] {
    return this.#context.progress.seconds;
  }

  get missedRecords(): number {
    return this.#context.publisher.missedRecords;
  }

  get processes(): Run["processes"] {
    return this.#context.processes;
  }

  get generatedTokens(): number {
    return accountingOf(this.#lifecycle)?.generatedTokens ?? this.#context.progress.before.generated;
  }

  get trainedTokens(): number {
    return accountingOf(this.#lifecycle)?.trainedTokens ?? this.#context.progress.before.trained;
  }

  /** @param changes differences of the recipe from the previous session's */
  start(changes: readonly string[]): void {
    const { options, stop, publisher } = this.#context;
    const abort = () => stop.request("aborted", { save: true });
    if (options.signal?.aborted) abort();
    options.signal?.addEventListener("abort", abort, { once: true });
    const board = new StatusWriter(this.#context, this.#lifecycle, this);
    this.#context.asked = board.requests.outcomes;
    this.#drive(changes)
      .then(async (outcome) => {
        await this.#lifecycle.end(); // done while the run still holds the folder's lock
        await this.#lifecycle.training?.settled();
        await board.close(outcome.reason, `${outcome.steps} steps done`);
        return outcome;
      })
      .catch(async (error: unknown) => {
        this.#lifecycle.fail(error);
        await board.close("failed", String((error as Error).message));
        throw error;
      })
      .finally(() => this.#lock[Symbol.dispose]())
      .then((outcome) => {
        publisher.ended(outcome.reason === "done" ? "finished" : "stopped");
        publisher.records.end();
        this.#outcome.resolve(outcome);
      })
      .catch((error: unknown) => {
        publisher.ended("failed");
        publisher.records.fail(error);
        this.#outcome.reject(error);
      })
      .finally(() => options.signal?.removeEventListener("abort", abort));
  }

  on<E extends keyof RunEvents>(event: E, listener: (...args: RunEvents[E]) => void): () => void {
    return this.#context.publisher.listeners.on(event, listener);
  }

  evaluated(evaluation: EvaluationFacts): void {
    this.#context.progress.evaluated = evaluation;
  }

  pause(): void {
    accountingOf(this.#lifecycle)?.credits.pause();
    this.#tellPaused(true);
  }

  resume(): void {
    accountingOf(this.#lifecycle)?.credits.resume();
    this.#tellPaused(false);
  }

  async checkpoint(): Promise<string> {
    const { written } = await this.#lifecycle.betweenSteps(async () => {
      const { training } = this.#lifecycle;
      if (training === undefined) throw nothingToSave(this.dir);
      return training.save();
    });
    return await written;
  }

  keepCheckpoints(steps: Iterable<number>): void {
    this.#context.checkpoints.kept = new Set(steps);
  }

  pin(checkpoint?: string): Promise<PinnedPolicy> {
    const { resources } = this.#context;
    if (checkpoint !== undefined) return pinCheckpoint(this.#context, checkpoint);
    return this.#lifecycle.betweenSteps(() => pinPolicy(resources, resources.trainer));
  }

  stop({ save = true } = {}): Promise<RunOutcome> {
    if (this.#lifecycle.stage.at !== "over") this.#context.stop.request("stopped", { save });
    return this.finished;
  }

  [Symbol.asyncIterator](): AsyncIterator<StepRecord> {
    return this.#context.publisher.records[Symbol.asyncIterator]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { publisher, resources } = this.#context;
    await this.stop().catch(() => {});
    await publisher.close().finally(() => resources[Symbol.asyncDispose]());
  }

  #tellPaused(paused: boolean): void {
    if (this.#lifecycle.paused === paused) return;
    this.#lifecycle.paused = paused;
    this.#context.publisher.listeners.emit("paused", paused);
  }

  async #drive(changes: readonly string[]): Promise<RunOutcome> {
    const { resources, stop, publisher, progress } = this.#context;
    const state = await restoreRun(this.#context, changes);
    if (state === undefined) progress.seconds.warmStart = await prepareWeights(this.#context);
    await resources.trainer.publish(resources.generations.engine);
    await callHook(this.#context, this.#lifecycle, "beforeTraining", (hooks) => hooks.beforeTraining?.(this));
    if (!stop.signal.aborted) await train(this.#context, this.#lifecycle, state);
    publisher.listeners.emit("phase", "done", 0);
    return { reason: stop.end, steps: progress.step, version: resources.trainer.version };
  }
}

/** Pins the weights of a checkpoint; the trainer that reads them is closed again. */
async function pinCheckpoint({ resources, checkpoints }: RunContext, path: string): Promise<PinnedPolicy> {
  const trainer = resources.openTrainer();
  try {
    if (resources.recipe.lora !== undefined) await checkpoints.loadBase(trainer, resources.model);
    await trainer.load(path);
    return await pinPolicy(resources, trainer);
  } finally {
    await trainer.close();
  }
}

/** Publishes the trainer's weights to an engine of their own. */
async function pinPolicy(resources: RunResources, trainer: TrainerFace): Promise<PinnedPolicy> {
  const { recipe, model, sources, sets, verifiers, plays, openGenerations } = resources;
  const generations = openGenerations();
  const close = () => generations.close();
  const version = await trainer.publish(generations.engine).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    version,
    recipe,
    generations,
    model,
    sources,
    sets,
    verifiers,
    plays,
    [Symbol.asyncDispose]: close,
  };
}
