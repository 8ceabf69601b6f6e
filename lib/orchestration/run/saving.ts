import { HoneError } from "../../errors.ts";
import type { RunState } from "../recovery/index.ts";
import type { RunContext } from "./run-context.ts";

/** A longer wait for the previous checkpoint is reported. */
const SLOW_SECONDS = 0.5;

/** Checkpoint times that a step records: how long training waited for checkpoints, how long their writing took. Seconds. */
export interface CheckpointSeconds {
  readonly pause?: number;
  readonly write?: number;
}

/** A checkpoint whose state is copied, or that is already written. */
export interface Saved {
  /** Resolves with the checkpoint's path once it is complete. */
  readonly written: Promise<string>;
}

/**
 * Saves the checkpoints of a run: copies each between two steps, then writes it while the next ones train. The
 * trainer writes one at a time.
 */
export class Saving {
  readonly #context: Pick<RunContext, "resources" | "checkpoints" | "publisher" | "clock">;
  /** Settles when nothing is being written. */
  #writing: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;
  /**
   * Error that prevented the last checkpoint of the run's own schedule, and the step at which it ends the run unless
   * one is written before.
   */
  #unsaved: { readonly error: unknown; readonly end: number } | undefined;
  #seconds: { pause?: number; write?: number } = {};
  #saidSlow = false;

  constructor(context: Pick<RunContext, "resources" | "checkpoints" | "publisher" | "clock">) {
    this.#context = context;
  }

  /**
   * Begins a checkpoint of the trainer's state at this call: requests the copy before anything else, so that
   * the copy excludes later steps. Training may continue when this resolves. Rejects with the error that
   * prevented the copy.
   */
  async begin(state: RunState): Promise<Saved> {
    const { resources, checkpoints, clock } = this.#context;
    const begun = clock.now();
    if (!resources.placed.checkpoint.async) return { written: Promise.resolve(await this.#write(state)) };
    const copied = checkpoints.stage(resources.trainer, state).then((saved) => {
      this.#paused(begun);
      return { ...saved, at: clock.now() };
    });
    const told = copied.then(async ({ written, at }) => this.#told(await written, state.step, at));
    this.#goesOn(told);
    await copied;
    return { written: told };
  }

  /**
   * Saves a scheduled checkpoint between two steps, after the previous one: a write error ends the run, except for a
   * disk error, for which `maxUnsavedSteps` allows more steps.
   * @param begin returns undefined if no checkpoint is needed any more
   */
  async due(step: number, begin: () => Promise<Saved | undefined>): Promise<void> {
    await this.#waitForTheOther();
    const failed = (error: unknown) => this.#failed(step, error);
    const saved = await begin().catch((error: unknown) => void failed(error));
    this.raise(step);
    saved?.written.catch(failed);
  }

  /** Writes the last checkpoint directly, without a copy, since no training follows. */
  async now(state: RunState): Promise<string> {
    await this.settle();
    return this.#write(state);
  }

  /** Waits for writes in progress. Rejects with what `raise` throws. */
  async settle(): Promise<void> {
    await this.#writing;
    this.raise();
  }

  /** Throws the error that prevented a scheduled checkpoint from being written. @param step of the run; omitted after its end */
  raise(step = 0): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#unsaved !== undefined && step >= this.#unsaved.end) throw this.#unsaved.error;
  }

  /** Returns the seconds not yet reported, and resets them. */
  takeSeconds(): CheckpointSeconds {
    const taken = this.#seconds;
    this.#seconds = {};
    return taken;
  }

  #failed(step: number, error: unknown): void {
    const { resources, publisher } = this.#context;
    const { maxUnsavedSteps } = resources.recipe.checkpoint;
    if (maxUnsavedSteps === 0 || !(HoneError.is(error) && error.code === "HONE_ERR_IO")) {
      this.#failure ??= { error };
      return;
    }
    const end = this.#unsaved?.end ?? step + maxUnsavedSteps;
    this.#unsaved = { error, end };
    publisher.warn(
      `the checkpoint of step ${step} was not written: ${error.message}; the run ends with step ${end} unless a checkpoint is written before (checkpoint.maxUnsavedSteps)`,
    );
  }

  async #waitForTheOther(): Promise<void> {
    const { publisher, clock } = this.#context;
    const begun = clock.now();
    await this.settle();
    this.#paused(begun);
    const seconds = (clock.now() - begun) / 1000;
    if (this.#saidSlow || seconds < SLOW_SECONDS) return;
    this.#saidSlow = true;
    publisher.warn(
      `training waited ${seconds.toFixed(1)} s for the previous checkpoint to be written: the disk is slower than checkpoint.everySteps`,
    );
  }

  async #write(state: RunState): Promise<string> {
    const { resources, checkpoints, clock } = this.#context;
    const begun = clock.now();
    const path = checkpoints.save(resources.trainer, state);
    this.#goesOn(path);
    await path;
    this.#paused(begun);
    return this.#told(await path, state.step, begun);
  }

  #goesOn(written: Promise<unknown>): void {
    this.#writing = Promise.allSettled([this.#writing, written]).then(() => {});
  }

  #paused(begun: number): void {
    this.#seconds.pause = (this.#seconds.pause ?? 0) + (this.#context.clock.now() - begun) / 1000;
  }

  #told(path: string, step: number, begun: number): string {
    this.#unsaved = undefined;
    this.#seconds.write = (this.#context.clock.now() - begun) / 1000;
    this.#context.publisher.listeners.emit("checkpoint", path, step);
    return path;
  }
}
