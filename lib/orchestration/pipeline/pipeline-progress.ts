import type { EngineStats } from "../../native/face.ts";
import type { VerifierStats } from "../../rewards/index.ts";
import type { GroupAccounting } from "./group-accounting.ts";
import { heldByHook, type PipelinePosition } from "./stall-watch.ts";

/** Contents of the pipeline's stages. */
export interface StageFacts {
  readonly accounting: Pick<GroupAccounting, "outstanding"> & {
    readonly credits: { readonly free: number; readonly total: number };
  };
  readonly engine: Pick<EngineStats, "waiting" | "running" | "decodeTokens" | "prefillTokens">;
  readonly verifiers: Readonly<Record<string, Pick<VerifierStats, "calls" | "timeouts" | "crashes">>>;
  /** Settled groups that no step has taken. */
  readonly ready: number;
}

/** Progress of the pipeline, for the stall watch: updated when a stage begins and ends. */
export class PipelineProgress {
  /** Number of groups that wait for verdicts; the verification stage updates it. */
  readonly verifying = { groups: 0 };
  #moves = 0;
  #training = false;
  readonly #inHooks = { onGroup: 0, onBatch: 0 };

  get training(): boolean {
    return this.#training;
  }

  /** The hook that blocks the pipeline: onBatch, or onGroup unless a step is running concurrently. */
  get hook(): "onBatch" | "onGroup" | undefined {
    const { onBatch, onGroup } = this.#inHooks;
    if (onBatch > 0) return "onBatch";
    return onGroup > 0 && !this.#training ? "onGroup" : undefined;
  }

  moved(): void {
    this.#moves += 1;
  }

  /** The step that `aroundTraining` handed out a batch for is done. */
  stepped(): void {
    this.#training = false;
    this.moved();
  }

  async *aroundTraining<T>(batches: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    for await (const batch of batches) {
      this.#training = true;
      yield batch;
    }
  }

  aroundHook<A, T>(name: "onBatch" | "onGroup", hook: (of: A) => T | Promise<T>): (of: A) => Promise<T> {
    return async (of) => {
      this.#inHooks[name] += 1;
      try {
        return await hook(of);
      } finally {
        this.#inHooks[name] -= 1;
        this.moved();
      }
    };
  }

  position({ accounting, engine, verifiers, ready }: StageFacts): PipelinePosition {
    const { credits, outstanding } = accounting;
    const { running, waiting, decodeTokens, prefillTokens } = engine;
    const stages = [
      `prompts: ${credits.free} of ${credits.total} credits free, ${outstanding} groups outstanding`,
      `engine: ${running} sequences running, ${waiting} waiting`,
      `verifiers: ${this.verifying.groups} groups`,
      `trainer: ${this.#training ? "in a step" : `waiting for a batch, ${ready} groups ready`}`,
    ];
    const judged = Object.values(verifiers).reduce((n, s) => n + s.calls + s.timeouts + s.crashes, 0);
    const progress = this.#moves + decodeTokens + prefillTokens + judged;
    const position = { progress, stages, culprit: this.#culprit(engine) };
    return this.hook === undefined ? position : heldByHook(position, this.hook);
  }

  #culprit({ running, waiting }: StageFacts["engine"]): string {
    if (this.#training) return "trainer (its step does not return)";
    if (this.verifying.groups > 0) return `verifiers (${this.verifying.groups} groups)`;
    if (running + waiting > 0) return `engine (${running} running, ${waiting} waiting)`;
    return "prompts (nothing is under way)";
  }
}
