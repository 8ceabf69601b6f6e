import { join } from "node:path";
import { HoneError } from "../errors.ts";
import type { ModelConfigJson, TrainerFace, TrainerOptions } from "../native/face.ts";
import { type Deferred, deferred } from "../shared/async/deferred.ts";
import type { Located } from "../shared/weights/weight-update.ts";
import type { StreamStore } from "../streams/index.ts";
import { CallLog } from "./call-log.ts";
import type { SendingTrainer } from "./fleet-trainer.ts";
import { readMembers } from "./membership.ts";
import { faultOf } from "./messages.ts";
import { rankName, STREAMS } from "./names.ts";
import {
  type Call,
  decodeReply,
  encodeCall,
  forwarded,
  type Reply,
  type TrainerCall,
  traitsOf,
} from "./trainer-calls.ts";

interface Answered {
  readonly reply: Reply;
  /** Number of the call that made a checkpoint which is now complete on all ranks. */
  readonly base: number | undefined;
}

interface Pending extends Deferred<Answered> {
  readonly call: Call;
  readonly bytes: Uint8Array;
}

/** Steps without a checkpoint of the run after which the ranks write one themselves: bounds the calls kept here. */
const MOST_STEPS = 64;

/** Consecutive formations of ranks without any new reply after which the run ends. */
const MOST_FORMATIONS = 5;

/**
 * The coordinator's side of the trainer's ranks: appends calls to a log that all ranks read, and receives one reply.
 * Keeps the state with which new ranks can replace the old ones: the last checkpoint and the calls since then, or all
 * calls.
 */
export class TrainerRanks {
  readonly #store: StreamStore;
  readonly #folder: string;
  /** Log of calls to the ranks of the current epoch; undefined before the first epoch. */
  #log: CallLog | undefined;
  #epoch = 0;
  /** Calls that determine a trainer's state, by trainer. */
  readonly #history = new Map<string, Call[]>();
  readonly #pending = new Map<number, Pending>();
  /** Calls that a rank refused: other ranks may report the same fault. */
  readonly #refused = new Set<number>();
  #number = 0;
  #opened = 0;
  #formations = 0;
  #reading = new AbortController();
  #failure: Error | undefined;

  /** @param folder for checkpoints that the ranks write for themselves */
  constructor(store: StreamStore, folder: string) {
    this.#store = store;
    this.#folder = folder;
  }

  /** Opens a trainer on the ranks. */
  open(config: ModelConfigJson, options: TrainerOptions): SendingTrainer {
    const id = `trainer-${this.#opened++}`;
    this.call(id, "open", [config, options]).catch(() => {}); // a failed open also fails every later call
    return {
      trainer: remoteTrainer(id, this),
      send: async (plan) => void (await this.call(id, "send", [plan])),
      senders: () => this.#senders(),
    };
  }

  /** Ranks of this epoch with a heartbeat; at least the first rank. */
  async #senders(): Promise<readonly Located[]> {
    const epoch = this.#epoch;
    const ranks = (await readMembers(this.#store.kv)).filter(
      ({ place, generation }) => place.startsWith("trainer.") && generation === epoch,
    );
    const located = ranks.map(({ member, host }) => ({ name: member, host }));
    return located.length > 0 ? located : [{ name: rankName(0, epoch), host: "" }];
  }

  /** Rejects with the ranks' error. */
  async call(trainer: string, name: string, args: readonly unknown[]): Promise<Reply> {
    if (this.#failure !== undefined) throw this.#failure;
    const call = { number: this.#number++, trainer, name, args };
    const pending = { call, bytes: encodeCall(call), ...deferred<Answered>() };
    this.#pending.set(call.number, pending);
    this.#say(call.number, pending.bytes);
    const { reply, base } = await pending.promise;
    if (base !== undefined) await this.#log?.dropBefore(base);
    if (name === "step" && this.#stepsOf(trainer) > MOST_STEPS)
      await this.call(trainer, "save", [join(this.#folder, trainer), "{}"]);
    return reply;
  }

  #stepsOf(trainer: string): number {
    return this.#history.get(trainer)?.filter(({ name }) => name === "step").length ?? 0;
  }

  /**
   * Starts the log of a new epoch: it begins with the calls that rebuild the trainers' state, followed by the
   * unanswered calls.
   */
  form(epoch: number): void {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.#log?.dropAll().catch((error) => this.fail(error));
    this.#epoch = epoch;
    const log = new CallLog(this.#store, STREAMS.commands(epoch), STREAMS.replies(epoch));
    this.#log = log;
    this.#formations += 1;
    if (this.#formations > MOST_FORMATIONS) {
      const message = `the trainer's processes ended ${MOST_FORMATIONS} times without finishing a step`;
      this.fail(new HoneError("HONE_ERR_STATE", message));
      return;
    }
    for (const history of this.#history.values())
      for (const call of history) {
        const number = this.#number++;
        this.#say(number, encodeCall({ ...call, number }));
      }
    for (const { bytes, call } of this.#pending.values()) this.#say(call.number, bytes);
    const receive = (_key: string, payload: Uint8Array) => this.#settle(decodeReply(payload));
    log.follow(this.#reading.signal, receive).catch((error) => this.fail(error));
  }

  #say(number: number, bytes: Uint8Array): void {
    this.#log?.say(number, bytes).catch((error) => this.fail(error));
  }

  fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }

  close(): void {
    this.#reading.abort();
    this.fail(new HoneError("HONE_ERR_STATE", "the trainer is closed"));
  }

  #settle(reply: Reply): void {
    const pending = this.#pending.get(reply.number);
    const fault = reply.fault && faultOf(reply.fault, `trainer rank ${reply.rank}`);
    if (pending === undefined) {
      // a call that is repeated for new ranks, or that rank 0 has finished, has no effect on ranks that already applied
      // it
      if (fault && !this.#refused.has(reply.number)) this.fail(fault);
      return;
    }
    this.#pending.delete(reply.number);
    this.#formations = 0;
    // recorded immediately: new ranks may be formed before the caller continues
    if (fault === undefined) pending.resolve({ reply, base: this.#remember(pending.call) });
    else {
      this.#refused.add(reply.number);
      pending.reject(fault);
    }
  }

  /** Adds a finished call to its trainer's history; returns `base` of its answer. */
  #remember(call: Call): number | undefined {
    const { trainer, name } = call;
    if (name === "close") return void this.#history.delete(trainer);
    const before = this.#history.get(trainer) ?? [];
    const all = traitsOf(name).kept || name === "save" ? [...before, call] : before;
    const saved = name === "save" ? all.length - 1 : name === "written" ? lastStage(all) : -1;
    this.#history.set(trainer, saved < 0 ? all : fromCheckpoint(all, saved));
    return all[saved]?.number;
  }
}

const lastStage = (calls: readonly Call[]): number => calls.findLastIndex(({ name }) => name === "stage");

/** Calls that rebuild the trainer's state after `calls`, from the checkpoint that call `saved` wrote. */
function fromCheckpoint(calls: readonly Call[], saved: number): Call[] {
  const kept = calls.slice(0, saved).filter(({ name }) => traitsOf(name).base);
  const { args, ...call } = calls[saved]!;
  return [...kept, { ...call, name: "load", args: [args[0]] }, ...calls.slice(saved + 1)];
}

/** A trainer in other processes. Its weights leave it only through "send"; FleetTrainer implements `publish`. */
function remoteTrainer(id: string, ranks: TrainerRanks): TrainerFace {
  let version = 0;
  const forward = async (name: TrainerCall, args: readonly unknown[]) => {
    const reply = await ranks.call(id, name, args);
    if (!traitsOf(name).beside) version = reply.version;
    return reply.result;
  };
  const calls = forwarded(forward);
  return {
    ...calls,
    get version() {
      return version;
    },
    publish: () => {
      throw new HoneError("HONE_ERR_USAGE", "publish: the trainer does not live in this process");
    },
    close: () => calls.close().catch(() => {}), // if all ranks have ended, there is nothing to close
  };
}
