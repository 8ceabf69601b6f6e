import { HoneError } from "../errors.ts";
import type { ModelConfigJson, TrainerFace, TrainerOptions } from "../native/face.ts";
import type { StreamStore } from "../streams/index.ts";
import { type Call, decodeCall, encodeReply, failed, type Reply } from "./calls.ts";
import type { TransferPlan } from "./messages.ts";
import { STREAMS } from "./names.ts";
import type { WeightSender } from "./transport.ts";

/** Calls of a trainer that come over the log; "open", "send" and "close" are the role's own. */
export const TRAINER_CALLS = [
  "initialize",
  "loadHf",
  "loadAdapters",
  "step",
  "gradientParts",
  "score",
  "setVersion",
  "resetOptimizer",
  "save",
  "load",
  "saveModel",
  "parameter",
] as const satisfies readonly (keyof TrainerFace)[];
export type TrainerCall = (typeof TRAINER_CALLS)[number];

export interface TrainerParts {
  readonly store: StreamStore;
  /** Opens this rank's part of a trainer. */
  readonly open: (config: ModelConfigJson, options: TrainerOptions) => TrainerFace;
  readonly sender: WeightSender;
  readonly rank: number;
  /** Of this formation of the ranks: another one reads another log. */
  readonly epoch: number;
  readonly signal: AbortSignal;
}

/** The work of a trainer's rank: every call of the log, in order. Resolves when `signal` aborts. */
export async function runTrainer(parts: TrainerParts): Promise<void> {
  const rank = new TrainerRank(parts);
  try {
    await rank.run();
  } catch (error) {
    if (!parts.signal.aborted) throw error;
  } finally {
    await rank.close();
  }
}

class TrainerRank {
  readonly #parts: TrainerParts;
  readonly #trainers = new Map<string, TrainerFace>();

  constructor(parts: TrainerParts) {
    this.#parts = parts;
  }

  async run(): Promise<void> {
    const { store, epoch, signal } = this.#parts;
    for (let after = 0; !signal.aborted; ) {
      const entries = await store.read(STREAMS.commands(epoch), after, { max: 1, waitMs: 60_000, signal });
      for (const { payload, offset } of entries) {
        await this.#answer(decodeCall(payload));
        after = offset;
      }
    }
  }

  async close(): Promise<void> {
    for (const trainer of this.#trainers.values()) await trainer.close();
    await this.#parts.sender.close();
  }

  /** Rank 0 says what came of it; the others only what went wrong. */
  async #answer(call: Call): Promise<void> {
    const { store, epoch, rank } = this.#parts;
    const { number, trainer } = call;
    const done: Pick<Reply, "result" | "fault"> = await this.#do(call).then(
      (result) => ({ result }),
      (error: unknown) => this.#faultOf(call, error),
    );
    if (rank > 0 && done.fault === undefined) return;
    const version = this.#trainers.get(trainer)?.version ?? 0;
    await store.append(
      STREAMS.replies(epoch),
      `${number}/${rank}`,
      encodeReply({ number, rank, version, ...done }),
    );
  }

  /** Where another rank is gone, all leave: new ones will do it again. */
  #faultOf({ name }: Call, error: unknown): Pick<Reply, "fault"> {
    if (name !== "send" && HoneError.is(error) && error.code === "HONE_ERR_COLLECTIVE") throw error;
    return failed(error);
  }

  async #do({ trainer: id, name, args }: Call): Promise<unknown> {
    const { open, sender } = this.#parts;
    if (name === "open") {
      const [config, options] = args as [ModelConfigJson, TrainerOptions];
      return void this.#trainers.set(id, open(config, options));
    }
    const trainer = this.#trainers.get(id);
    if (trainer === undefined) throw new HoneError("HONE_ERR_INTERNAL", `${name}: ${id} was never opened`);
    if (name === "send") return sender.send(args[0] as TransferPlan, trainer);
    if (name === "close") {
      this.#trainers.delete(id);
      return trainer.close();
    }
    const known = TRAINER_CALLS.find((each) => each === name);
    if (known === undefined) throw new HoneError("HONE_ERR_INTERNAL", `${name} is no call of a trainer`);
    return (trainer[known] as (...all: readonly unknown[]) => Promise<unknown>).apply(trainer, [...args]);
  }
}
