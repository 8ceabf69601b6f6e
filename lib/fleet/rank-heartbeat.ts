import { HoneError } from "../errors.ts";
import type { StreamStore } from "../streams/index.ts";
import { REGISTERS } from "./names.ts";

/** Status that a rank publishes. */
export interface RankStatus {
  readonly rank: number;
  readonly epoch: number;
  readonly pid: number;
  /** Machine it runs on. */
  readonly host: string;
  /** Ordinal of the word. */
  readonly beat: number;
  /** Calls of the log that are done. */
  readonly done: number;
  /** True while it executes a call. */
  readonly busy: boolean;
  /** Processor time of all threads of the process. */
  readonly cpuSeconds: number;
}

export interface RankHeartbeatOptions {
  readonly store: StreamStore;
  readonly rank: number;
  readonly epoch: number;
  readonly host: string;
  readonly beatMs: number;
  /** Told that ranks of another epoch have taken the place, or what the store says. */
  readonly onLost: (error: unknown) => void;
}

/** Heartbeat of a trainer's rank, with what distinguishes a slow rank from a hung one. */
export class RankHeartbeat {
  readonly #options: RankHeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #beat = 0;
  #done = 0;
  #busy = false;

  constructor(options: RankHeartbeatOptions) {
    this.#options = options;
  }

  begin(): void {
    const { beatMs, onLost } = this.#options;
    const again = (): void => {
      this.#timer = setTimeout(() => void this.#show().then(again, onLost), beatMs).unref();
    };
    void this.#show().then(again, onLost);
  }

  entered(): void {
    this.#busy = true;
  }

  left(): void {
    this.#busy = false;
    this.#done += 1;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #show(): Promise<void> {
    const { store, rank, epoch, host } = this.#options;
    if ((await store.kv.get(REGISTERS.epoch)) !== String(epoch))
      throw new HoneError(
        "HONE_ERR_STATE",
        `trainer ${rank}: ranks of another epoch than ${epoch} are formed`,
      );
    const { user, system } = process.cpuUsage();
    const word: RankStatus = {
      rank,
      epoch,
      pid: process.pid,
      host,
      beat: this.#beat++,
      done: this.#done,
      busy: this.#busy,
      cpuSeconds: (user + system) / 1e6,
    };
    await store.kv.set(REGISTERS.heartbeat(rank), JSON.stringify(word));
  }
}
