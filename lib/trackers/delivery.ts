import { join } from "node:path";
import { RUN_FILES, type Sink, type StepDetails } from "../metrics/index.ts";
import type { StepRecord } from "../records.ts";
import { within } from "../shared/async/deadline.ts";
import { type Delivered, Spool, type SpoolBatch } from "./spool.ts";
import {
  MOST_AT_ONCE,
  type Tracked,
  type TrackedEnd,
  type TrackedRun,
  type Tracker,
  trackedStep,
} from "./tracker.ts";

/** The folder of spools in a run folder. */
export const TRACKERS_FOLDER = RUN_FILES.trackers;

/** Time that a responding tracker gets at the end of a run. */
const GRACE_MS = 5_000;

export interface DeliveryOptions {
  readonly run: TrackedRun;
  readonly sitting: number;
  /** Called once when a tracker stops responding, once when it responds again, and for entries that it refuses. */
  readonly warn: (message: string) => void;
  /** Limit for one attempt in milliseconds; default 30,000. */
  readonly timeoutMs?: number;
  /** The pause after a failure doubles from the first to the longest; default 1,000 and 60,000. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
}

/** State of a tracker, for metrics and for `hone track list`. */
export interface DeliveryState extends Delivered {
  readonly waiting: number;
}

/**
 * Delivers a run's steps to one tracker: writes each to its spool immediately, and sends the spool in the background,
 * one batch at a time, with retries. Holds one batch in memory.
 */
export class Delivery implements Sink {
  readonly name: string;
  readonly #tracker: Tracker;
  readonly #options: Required<DeliveryOptions>;
  readonly #spool: Spool;
  readonly #abort = new AbortController();
  #failuresInARow = 0;
  #portionSize = MOST_AT_ONCE;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #closing = false;
  #lost = 0;

  /** Begins to send entries of an earlier session. Throws HONE_ERR_IO. */
  constructor(tracker: Tracker, options: DeliveryOptions) {
    this.name = tracker.name;
    this.#tracker = tracker;
    this.#options = { timeoutMs: 30_000, firstPauseMs: 1_000, longestPauseMs: 60_000, ...options };
    this.#spool = new Spool(join(options.run.dir, TRACKERS_FOLDER), tracker.name);
    this.#wake();
  }

  get state(): DeliveryState {
    return { ...this.#spool.delivered, waiting: this.#spool.waiting };
  }

  write(record: StepRecord, details: StepDetails): void {
    this.#keep(trackedStep(record, details, this.#options.sitting, this.#tracker.completionsEvery));
  }

  ended(state: TrackedEnd["state"], at = Date.now()): void {
    this.#keep({ kind: "end", at, sitting: this.#options.sitting, state });
  }

  /**
   * Sends until the spool is empty, or a responding tracker has used `graceMs`; does not wait for one that is not
   * responding. Unsent entries stay in the spool. Idempotent.
   */
  async close(graceMs = GRACE_MS): Promise<void> {
    if (this.#closing) return;
    await this.drain(AbortSignal.timeout(graceMs));
    this.#closing = true;
    clearTimeout(this.#timer);
    this.#abort.abort(new Error("the run has ended"));
    await this.#sending;
    const left = `has ${this.#spool.waiting} entries that are not sent yet: hone track send ${this.#options.run.dir}`;
    if (this.#spool.waiting > 0) this.#say(left);
    this.#spool.close();
    await this.#tracker.close?.();
  }

  /** Resolves when no entry waits, after the first failure, or when the signal aborts. */
  async drain(signal: AbortSignal): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    while (this.#spool.waiting > 0 && this.#failuresInARow === 0 && !signal.aborted) {
      this.#wake();
      await Promise.race([this.#sending ?? pause(20), stopped]);
    }
  }

  #keep(entry: Tracked): void {
    try {
      this.#spool.append(entry);
    } catch (error) {
      if (this.#lost++ === 0) this.#say(`cannot write its spool: ${(error as Error).message}`);
      return;
    }
    this.#wake();
  }

  /** Begins to send, unless it is sending or pausing. */
  #wake(): void {
    const busy = this.#sending !== undefined || this.#timer !== undefined;
    if (busy || this.#closing || this.#spool.waiting === 0) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    try {
      while (!this.#closing) {
        const batch = this.#spool.next(this.#portionSize);
        if (batch.entries.length === 0) return;
        if (!(await this.#sendOne(batch))) return;
      }
    } catch (error) {
      this.#say(`its spool fails, so nothing is sent to it: ${(error as Error).message}`);
      this.#pause(this.#options.longestPauseMs);
    }
  }

  /** Sends one batch; returns true to continue immediately. */
  async #sendOne(batch: SpoolBatch): Promise<boolean> {
    const { run, timeoutMs } = this.#options;
    const { memory: before } = this.#spool;
    try {
      const memory = await within(timeoutMs, this.#abort.signal, (signal) =>
        unlessAborted(this.#tracker.send(batch.entries, { run, signal, memory: before }), signal),
      );
      this.#spool.taken(batch, memory);
      this.#recovered();
      return true;
    } catch (error) {
      if (this.#abort.signal.aborted) return false;
      return this.#failed(batch, error as Error & { refused?: boolean; retryAfterMs?: number });
    }
  }

  #recovered(): void {
    if (this.#failuresInARow > 0) this.#say("answers again: the waiting entries are being sent");
    this.#failuresInARow = 0;
    this.#portionSize = MOST_AT_ONCE;
  }

  #failed(batch: SpoolBatch, error: Error & { refused?: boolean; retryAfterMs?: number }): boolean {
    this.#spool.failed();
    if (error.refused === true) {
      if (batch.entries.length === 1) {
        this.#say(`refuses an entry, which is set aside in its .refused.jsonl file: ${error.message}`);
        this.#spool.refused(batch, error.message);
      }
      // entries are then sent one by one, which shows which of them the server refuses
      this.#portionSize = 1;
      return true;
    }
    if (this.#failuresInARow === 0)
      this.#say(
        `does not accept entries (${why(error)}); they are kept in ${this.#spool.path} and sent later`,
      );
    this.#failuresInARow += 1;
    this.#pause(error.retryAfterMs ?? pauseAfter(this.#failuresInARow, this.#options));
    return false;
  }

  #pause(ms: number): void {
    if (this.#closing) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#wake();
    }, ms).unref();
  }

  #say(what: string): void {
    this.#options.warn(`tracker ${this.name} ${what}`);
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Random jitter, so that many runs that lost the same server do not retry simultaneously. */
function pauseAfter(
  failures: number,
  { firstPauseMs, longestPauseMs }: Pick<Required<DeliveryOptions>, "firstPauseMs" | "longestPauseMs">,
): number {
  return (
    Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures - 1, 20)) * (0.75 + 0.5 * Math.random())
  );
}

/** Reason of a failure; fetch hides it in `cause`. */
function why(error: Error): string {
  const { cause } = error as { cause?: { message?: string; code?: string } };
  const inner = cause?.message || cause?.code;
  return inner ? `${error.message}: ${inner}` : error.message;
}

/** A user's tracker may ignore its signal. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {}); // a late rejection of abandoned work must not be unhandled
  return new Promise((resolve, reject) => {
    const gaveUp = () => reject(signal.reason as Error);
    if (signal.aborted) return gaveUp();
    signal.addEventListener("abort", gaveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", gaveUp));
  });
}
