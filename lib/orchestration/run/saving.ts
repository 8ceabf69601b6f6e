import type { RunState } from "../recovery/index.ts";
import type { RunContext } from "./run-context.ts";

/** A wait for the checkpoint before that is worth a word. */
const SLOW_SECONDS = 0.5;

/** Seconds of the checkpoints that a step saw: how long training waited for them, how long they took to be written. */
export interface CheckpointSeconds {
  readonly pause?: number;
  readonly write?: number;
}

/** A checkpoint that is copied, or already written. */
export interface Saved {
  /** Its path, once it is there whole. */
  readonly written: Promise<string>;
}

/** The checkpoints of a run: each copied between two steps, then written while the next ones train. One at a time. */
export class Saving {
  readonly #context: Pick<RunContext, "resources" | "checkpoints" | "publisher" | "clock">;
  #inFlight: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #seconds: { pause?: number; write?: number } = {};
  #saidSlow = false;

  constructor(context: Pick<RunContext, "resources" | "checkpoints" | "publisher" | "clock">) {
    this.#context = context;
  }

  /** Training may go on when it resolves. Rejects with what kept this checkpoint, or the one before it, from being written. */
  async begin(state: RunState): Promise<Saved> {
    const { resources, checkpoints, clock } = this.#context;
    const begun = clock.now();
    await this.#waitForTheOther();
    if (!resources.recipe.checkpoint.async) return { written: Promise.resolve(await this.now(state)) };
    const { written } = await checkpoints.stage(resources.trainer, state);
    this.#paused(begun);
    const copied = clock.now();
    const told = written.then((path) => this.#told(path, state.step, copied));
    this.#inFlight = told.then(
      () => {},
      (error: unknown) => {
        this.#failure = { error };
      },
    );
    told.catch(() => {}); // `raise` says so where nobody waits
    return { written: told };
  }

  /** Writes it at once, from where the state is: for the last one, after which nothing trains. */
  async now(state: RunState): Promise<string> {
    const { resources, checkpoints, clock } = this.#context;
    const begun = clock.now();
    await this.settle();
    const path = await checkpoints.save(resources.trainer, state);
    this.#paused(begun);
    return this.#told(path, state.step, begun);
  }

  /** Waits for what is being written. Rejects as `raise` throws. */
  async settle(): Promise<void> {
    await this.#inFlight;
    this.#inFlight = undefined;
    this.raise();
  }

  /** Throws what kept a checkpoint from being written since the last call. */
  raise(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  /** What nobody has asked for yet. */
  takeSeconds(): CheckpointSeconds {
    const taken = this.#seconds;
    this.#seconds = {};
    return taken;
  }

  async #waitForTheOther(): Promise<void> {
    const { publisher, clock } = this.#context;
    const begun = clock.now();
    await this.settle();
    const seconds = (clock.now() - begun) / 1000;
    if (this.#saidSlow || seconds < SLOW_SECONDS) return;
    this.#saidSlow = true;
    publisher.warn(
      `training waited ${seconds.toFixed(1)} s for the checkpoint before to be written: the disk is slower than checkpoint.everySteps`,
    );
  }

  #paused(begun: number): void {
    this.#seconds.pause = (this.#seconds.pause ?? 0) + (this.#context.clock.now() - begun) / 1000;
  }

  #told(path: string, step: number, begun: number): string {
    this.#seconds.write = (this.#context.clock.now() - begun) / 1000;
    this.#context.publisher.listeners.emit("checkpoint", path, step);
    return path;
  }
}
