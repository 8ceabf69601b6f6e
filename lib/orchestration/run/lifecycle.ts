import { deferred } from "../../shared/async/deferred.ts";

/** Stage of a run's life. A step may be running only while it is at "training" and not idle. */
export type Stage<Training> =
  | { readonly at: "preparing" }
  | { readonly at: "training"; readonly training: Training }
  | { readonly at: "hook"; readonly hook: string; readonly training: Training | undefined }
  | { readonly at: "over"; readonly training: Training | undefined };

interface Request {
  readonly serve: () => Promise<void>;
  readonly refuse: (error: unknown) => void;
}

/** The state machine of a run: its current stage, and which requests the stage allows. */
export class Lifecycle<Training extends { readonly isIdle: boolean }> {
  /** While true, no new prompts are drawn. A run may be paused at every stage. */
  paused = false;
  #stage: Stage<Training> = { at: "preparing" };
  #requests: Request[] = [];

  get stage(): Stage<Training> {
    return this.#stage;
  }

  /** The training loop; undefined before training begins, and kept after the run has ended. */
  get training(): Training | undefined {
    return this.#stage.at === "preparing" ? undefined : this.#stage.training;
  }

  beginTraining(training: Training): void {
    this.#stage = { at: "training", training };
  }

  /** Runs the work of a hook. No step is running until the work is done. */
  async inHook<T>(hook: string, work: () => Promise<T>): Promise<T> {
    const before = this.#stage;
    const held = { at: "hook", hook, training: this.training } as const;
    this.#stage = held;
    try {
      return await work();
    } finally {
      if (this.#stage === held) this.#stage = before; // the run may have been abandoned meanwhile
    }
  }

  /** Runs work immediately if no step is running, otherwise when the running step ends. */
  betweenSteps<T>(work: () => Promise<T>): Promise<T> {
    if (this.#stage.at !== "training" || this.#stage.training.isIdle) return work();
    const { promise, resolve, reject } = deferred<T>();
    this.#requests.push({ serve: () => work().then(resolve, reject), refuse: reject });
    return promise;
  }

  /** Runs the work that was waiting for the end of a step. */
  async serve(): Promise<void> {
    for (const request of this.#requests.splice(0)) await request.serve();
  }

  /** Serves requests that are still waiting. */
  async end(): Promise<void> {
    this.#stage = { at: "over", training: this.training };
    await this.serve();
  }

  /** Rejects all waiting work with the error that ended the run: it could be served late or never. */
  fail(error: unknown): void {
    this.#stage = { at: "over", training: this.training };
    for (const request of this.#requests.splice(0)) request.refuse(error);
  }
}
