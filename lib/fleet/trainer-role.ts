import { HoneError } from "../errors.ts";
import type { ModelConfigJson, TrainerFace, TrainerOptions, TrainingBatch } from "../native/face.ts";
import type { CommunicatorFace } from "../native/group-face.ts";
import { deferred } from "../shared/async/deferred.ts";
import type { StreamStore } from "../streams/index.ts";
import { type HeartbeatSettings, MemberHeartbeat, type MemberWork } from "./heartbeat.ts";
import { type FaultText, isOfTheWay, type TransferPlan } from "./messages.ts";
import { rankName, STREAMS } from "./names.ts";
import type { RoleFacts } from "./role-metrics.ts";
import {
  type Call,
  callOn,
  decodeCall,
  encodeReply,
  failed,
  type Reply,
  TRAINER_CALLS,
  type TrainerCall,
  traitsOf,
} from "./trainer-calls.ts";
import type { WeightTransport } from "./transport.ts";

/** Number of calls read at a time: few, since batches may be large. If fewer come, all calls have been read. */
const MOST = 2;

export interface TrainerParts {
  readonly store: StreamStore;
  /** Opens this rank's part of a trainer. */
  readonly open: (config: ModelConfigJson, options: TrainerOptions) => TrainerFace;
  readonly transport: Pick<WeightTransport, "send" | "close">;
  readonly rank: number;
  /** Epoch of the ranks; each epoch reads its own log. */
  readonly epoch: number;
  /** Connected communicator of all ranks, if there are several; closed with the rank. */
  readonly group?: CommunicatorFace;
  /** A second communicator of the same ranks, for checkpoints written during training; closed like the first. */
  readonly writers?: CommunicatorFace;
  /** Name of the machine on which the rank runs. Default: this machine's name. */
  readonly host?: string;
  /** Receives the function that reports this rank's facts; called once. */
  readonly onFacts?: (facts: () => RoleFacts) => void;
  readonly settings: HeartbeatSettings;
  readonly signal: AbortSignal;
}

/**
 * The main loop of a trainer's rank: runs every call of the log, in order. Resolves when `signal` aborts; rejects
 * with HONE_ERR_COLLECTIVE if another rank is lost, with HONE_ERR_STATE if a later epoch of ranks has been formed.
 */
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

/** True for transfer faults that the members of an update report themselves. */
const isToldByMembers = ({ name }: Call, { code }: FaultText): boolean => name === "send" && isOfTheWay(code);

/** @param calls how many calls of the log are done, and whether the rank is executing one */
function rankWork(calls: { readonly done: number; readonly busy: boolean }): MemberWork {
  const { user, system } = process.cpuUsage();
  return { engines: {}, training: { ...calls, cpuSeconds: (user + system) / 1e6 } };
}

class TrainerRank {
  readonly #parts: TrainerParts;
  readonly #trainers = new Map<string, TrainerFace>();
  /** Ids of the trainers whose weights are sharded, so that no rank has all weights. */
  readonly #divided = new Set<string>();
  readonly #lost = deferred<never>();
  readonly #heartbeat: MemberHeartbeat;
  #calls = { done: 0, busy: false };
  /** Tokens of the batches on which this rank has trained. */
  #tokens = 0;
  #hasLeft = false;

  constructor(parts: TrainerParts) {
    this.#parts = parts;
    this.#lost.promise.catch(() => {}); // may reject after the last wait has ended
    const { rank: index, epoch: generation, settings } = parts;
    const work = () => rankWork(this.#calls);
    this.#heartbeat = new MemberHeartbeat("trainer", { ...parts, index, generation }, settings, work);
  }

  async run(): Promise<void> {
    this.#parts.signal.addEventListener("abort", this.#leave, { once: true });
    await this.#heartbeat.begin(this.#lost.reject);
    this.#parts.onFacts?.(() => this.#facts());
    await Promise.race([this.#obey(), this.#lost.promise]);
  }

  /** A trainer's weights are always the current ones, so its lag is 0. */
  #facts(): RoleFacts {
    const version = Math.max(0, ...[...this.#trainers.values()].map((trainer) => trainer.version));
    return { version, lag: 0, tokens: this.#tokens, restarts: this.#parts.epoch - 1 };
  }

  /** Ends every wait for the other ranks. */
  readonly #leave = (): void => {
    this.#hasLeft = true;
    this.#parts.writers?.abort("this rank leaves");
    this.#parts.group?.abort("this rank leaves");
  };

  async #obey(): Promise<void> {
    const { store, epoch, signal } = this.#parts;
    for (let after = 0; !signal.aborted; ) {
      const entries = await store.read(STREAMS.commands(epoch), after, { max: MOST, waitMs: 60_000, signal });
      for (const { payload, offset } of entries) {
        if (signal.aborted) return;
        await this.#obeyOne(decodeCall(payload));
        after = offset;
      }
    }
  }

  /** Waits for an unfinished checkpoint concurrently with later calls. */
  async #obeyOne(call: Call): Promise<void> {
    if (traitsOf(call.name).beside) return void this.#answer(call).catch(this.#lost.reject);
    this.#calls.busy = true;
    await this.#answer(call);
    this.#calls = { busy: false, done: this.#calls.done + 1 };
  }

  async close(): Promise<void> {
    const { group, writers, transport, signal } = this.#parts;
    this.#heartbeat.stop();
    signal.removeEventListener("abort", this.#leave);
    this.#leave();
    for (const trainer of this.#trainers.values()) await trainer.close();
    await writers?.close().catch(() => {});
    await group?.close().catch(() => {}); // the group may be lost
    await transport.close();
  }

  /** Rank 0 sends the result; the other ranks send only faults. */
  async #answer(call: Call): Promise<void> {
    const { store, epoch, rank } = this.#parts;
    const { number, trainer } = call;
    const done: Pick<Reply, "result" | "fault"> = await this.#do(call).then(
      (result) => ({ result }),
      (error: unknown) => this.#faultOf(call, error),
    );
    if (rank > 0 && (done.fault === undefined || isToldByMembers(call, done.fault))) return;
    const version = this.#trainers.get(trainer)?.version ?? 0;
    await store.append(
      STREAMS.replies(epoch),
      `${number}/${rank}`,
      encodeReply({ number, rank, version, ...done }),
    );
  }

  /**
   * Sends no reply if a rank was lost: all ranks leave, and new ones repeat the call. Of two calls in progress the
   * first to notice ends both.
   */
  #faultOf({ name }: Call, error: unknown): Pick<Reply, "fault"> {
    if (this.#hasLeft) throw error;
    if (name !== "send" && HoneError.is(error) && error.code === "HONE_ERR_COLLECTIVE") throw error;
    return failed(error);
  }

  async #do({ trainer: id, name, args }: Call): Promise<unknown> {
    if (name === "open") {
      const [config, options] = args as [ModelConfigJson, TrainerOptions];
      if (options.sharding?.stage === "parameters") this.#divided.add(id);
      return void this.#trainers.set(id, this.#parts.open(config, this.#shared(options)));
    }
    const trainer = this.#trainers.get(id);
    if (trainer === undefined) throw new HoneError("HONE_ERR_INTERNAL", `${name}: ${id} was never opened`);
    if (traitsOf(name).ofFirst && !(await this.#takesPart(id, trainer))) return;
    if (name === "send") return this.#send(args[0] as TransferPlan, id, trainer);
    if (name === "step") this.#tokens += (args[0] as TrainingBatch).tokens.length;
    if (name === "close") {
      this.#trainers.delete(id);
      return trainer.close();
    }
    if (!Object.hasOwn(TRAINER_CALLS, name))
      throw new HoneError("HONE_ERR_INTERNAL", `${name} is not a call of a trainer`);
    return callOn(trainer, name as TrainerCall, args);
  }

  /** Gathers the weights completely before it sends any: collectives of ranks and of actors never wait for each other. */
  async #send(plan: TransferPlan, id: string, trainer: TrainerFace): Promise<void> {
    const { rank, epoch, transport, group } = this.#parts;
    const me = rankName(rank, epoch);
    if (!plan.groups.every((each) => each.sender.endsWith(`#${epoch}`)))
      throw new HoneError("HONE_ERR_COLLECTIVE", "the plan of this update names senders of an earlier epoch");
    if (this.#divided.has(id)) await trainer.gatherWeights();
    try {
      if (plan.groups.some((each) => each.sender === me)) await transport.send(plan, trainer, me);
    } finally {
      if (plan.groups.length > 1) await group?.barrier(); // rank 0 answers for all senders
    }
  }

  /** True if this rank must take part in a call that rank 0 could run alone if the weights were not sharded. */
  async #takesPart(id: string, trainer: TrainerFace): Promise<boolean> {
    if (this.#divided.has(id)) await trainer.gatherWeights();
    return this.#parts.rank === 0;
  }

  /** Sets this rank's communicator in the options, which come from another process. */
  #shared(options: TrainerOptions): TrainerOptions {
    const { group, writers } = this.#parts;
    const { sharding } = options;
    if (group === undefined) return options;
    if (sharding === undefined)
      throw new HoneError("HONE_ERR_USAGE", `${group.size} trainers, but no hardware.sharding`, {
        hint: 'Set for example hardware.sharding: { stage: "optimizer" }.',
      });
    return { ...options, sharding: { ...sharding, communicator: group, ...(writers && { writers }) } };
  }
}
