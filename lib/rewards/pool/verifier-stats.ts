import { createHistogram } from "node:perf_hooks";
import type { Verdict } from "../../records.ts";
import type { JudgeStats } from "../judge/judge.ts";

/** Milliseconds per completion inside the worker, completed calls only; 0 before the first. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Counts and costs of a verifier so far. */
export interface VerifierStats {
  /** Completions judged, repeats after a kill included. */
  readonly calls: number;
  readonly latencyMs: Latency;
  /** Milliseconds of completed calls, and the part of them spent in workers. */
  readonly totalMs: number;
  readonly busyMs: number;
  /** Completions whose verification ran into the limit: scored 0, the worker was replaced. */
  readonly timeouts: number;
  /** Workers lost while judging. */
  readonly crashes: number;
  /** Completions judged again because the first attempt was unscored. */
  readonly retries: number;
  /** Numbers of judged completions: all, correct, partial, and unscored; the remaining ones are wrong. */
  readonly judged: number;
  readonly correct: number;
  readonly partial: number;
  readonly unscored: number;
  /** Milliseconds by which the slowest completion exceeded its limit before its worker was ended. */
  readonly overrunMs: number;
  /** Time limit per completion in milliseconds, if known. */
  readonly limitMs?: number | undefined;
  /** For a function in a Python file: its signature, and which Python calls it. */
  readonly about?: string | undefined;
  /** Statistics of an LLM judge. */
  readonly judge?: JudgeStats;
}

/** Counts and times of one verifier. */
export class VerifierMeter {
  readonly #histogram = createHistogram();
  #calls = 0;
  #totalMs = 0;
  #busyMs = 0;
  #judged = 0;
  #correct = 0;
  #partial = 0;
  #unscored = 0;
  timeouts = 0;
  crashes = 0;
  retries = 0;
  overrunMs = 0;
  /** A line about a function of a Python file, once it was loaded. */
  about: string | undefined;

  /** @param isWork false for a call that no worker was busy with. */
  recordCall(microseconds: number, isWork = true): void {
    this.#calls += 1;
    this.#totalMs += microseconds / 1000;
    if (isWork) this.#busyMs += microseconds / 1000;
    this.#histogram.record(Math.max(1, Math.round(microseconds)));
  }

  /** Milliseconds per completion; undefined before the first call. */
  get meanMs(): number | undefined {
    return this.#calls === 0 ? undefined : this.#busyMs / this.#calls;
  }

  /** Counts a completion's final verdict. */
  recordVerdict({ status }: Verdict): void {
    this.#judged += 1;
    if (status === "correct") this.#correct += 1;
    else if (status === "partial") this.#partial += 1;
    else if (status === "unscored") this.#unscored += 1;
  }

  /** The counts now; percentiles, which take a while, are computed when read, as of that moment. */
  snapshot(): VerifierStats {
    const calls = this.#calls;
    const percentileMs = (p: number) => (calls === 0 ? 0 : this.#histogram.percentile(p) / 1000);
    return {
      calls,
      latencyMs: {
        get p50() {
          return percentileMs(50);
        },
        get p95() {
          return percentileMs(95);
        },
        get p99() {
          return percentileMs(99);
        },
      },
      totalMs: this.#totalMs,
      busyMs: this.#busyMs,
      timeouts: this.timeouts,
      crashes: this.crashes,
      retries: this.retries,
      judged: this.#judged,
      correct: this.#correct,
      partial: this.#partial,
      unscored: this.#unscored,
      overrunMs: this.overrunMs,
      ...(this.about !== undefined && { about: this.about }),
    };
  }
}
