import type { StreamStore } from "../streams/index.ts";
import { type FleetSettings, REGISTERS } from "./names.ts";
import type { RankStatus } from "./rank-heartbeat.ts";

/** Processors that all ranks together use at least; below that they only wait. */
const LEAST_WORK = 0.1;
/** Windows of `stallMs` over which the work is measured. */
const WINDOWS = 10;

interface Heard {
  readonly word: RankStatus | undefined;
  readonly at: number;
}

/**
 * The coordinator's eye on the trainer's ranks of one epoch. A rank that says nothing for long is lost: stopped, or
 * without a machine. Ranks that say something, are in a call, and neither finish it nor use a processor, hang.
 */
export class RankWatch {
  readonly #store: StreamStore;
  readonly #settings: FleetSettings;
  readonly #onLost: (rank: number, why: string) => void;
  readonly #now: () => number;
  #epoch = 0;
  #heard: Heard[] = [];
  #progress = { at: 0, done: 0 };
  #window = { at: 0, cpuSeconds: 0 };

  /** @param onLost told once an epoch, of the rank to end */
  constructor(
    store: StreamStore,
    settings: FleetSettings,
    onLost: (rank: number, why: string) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#store = store;
    this.#settings = settings;
    this.#onLost = onLost;
    this.#now = now;
  }

  /** Ranks of this epoch are being started. */
  form(epoch: number, size: number): void {
    const at = this.#now();
    this.#epoch = epoch;
    this.#heard = Array.from({ length: size }, () => ({ word: undefined, at }));
    this.#progress = { at, done: 0 };
    this.#window = { at, cpuSeconds: 0 };
  }

  async look(): Promise<void> {
    const epoch = this.#epoch;
    const heartbeats = await this.#store.kv.list(REGISTERS.heartbeats);
    if (epoch !== this.#epoch) return;
    for (const text of heartbeats.values()) this.#hear(JSON.parse(text) as RankStatus);
    const lost = this.#silent() ?? this.#stalled();
    if (lost === undefined) return;
    this.#heard = []; // once
    this.#onLost(lost.rank, lost.why);
  }

  #hear(word: RankStatus): void {
    const heard = this.#heard[word.rank];
    if (heard === undefined || word.epoch !== this.#epoch || heard.word?.beat === word.beat) return;
    this.#heard[word.rank] = { word, at: this.#now() };
  }

  #silent(): { rank: number; why: string } | undefined {
    const { aliveMs, gatherMs } = this.#settings;
    const rank = this.#heard.findIndex(
      ({ word, at }) => this.#now() - at > (word === undefined ? gatherMs : aliveMs),
    );
    return rank < 0
      ? undefined
      : { rank, why: `it was silent for ${seconds(this.#now() - this.#heard[rank]!.at)}` };
  }

  #stalled(): { rank: number; why: string } | undefined {
    const words = this.#heard.flatMap(({ word }) => (word === undefined ? [] : [word]));
    const now = this.#now();
    const done = words.reduce((sum, word) => sum + word.done, 0);
    if (!words.some(({ busy }) => busy) || done !== this.#progress.done || this.#works(words))
      this.#progress = { at: now, done };
    const { stallMs } = this.#settings;
    if (now - this.#progress.at <= stallMs) return undefined;
    return { rank: words.find(({ busy }) => busy)!.rank, why: `no rank got on for ${seconds(stallMs)}` };
  }

  /** True if the window that ends now saw work, or if none ends now. */
  #works(words: readonly RankStatus[]): boolean {
    const now = this.#now();
    const ms = now - this.#window.at;
    if (ms < this.#settings.stallMs / WINDOWS) return false;
    const cpuSeconds = words.reduce((sum, word) => sum + word.cpuSeconds, 0);
    const used = cpuSeconds - this.#window.cpuSeconds;
    this.#window = { at: now, cpuSeconds };
    return used * 1000 > ms * LEAST_WORK;
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;
