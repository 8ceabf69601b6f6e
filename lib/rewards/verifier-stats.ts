import { createHistogram } from "node:perf_hooks";

/** What a verifier has done and cost so far. */
export interface VerifierStats {
  /** Completions judged, repeats after a kill included. */
  readonly calls: number;
  /** Milliseconds per completion inside the worker, completed calls only; 0 before the first. */
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Milliseconds spent in workers, summed over completed calls. */
  readonly busyMs: number;
  /** Completions whose verification ran into the limit: scored 0, the worker was replaced. */
  readonly timeouts: number;
  /** Workers lost while judging. */
  readonly crashes: number;
  /** Completions judged again because the first attempt was unscored. */
  readonly retries: number;
  /** Completions that stayed without a score. */
  readonly unscored: number;
  /** Milliseconds that the slowest completion took beyond its limit, until its worker was given up. */
  readonly overrunMs: number;
}

/** Counts and times of one verifier. */
export class VerifierMeter {
  readonly #histogram = createHistogram();
  timeouts = 0;
  crashes = 0;
  retries = 0;
  unscored = 0;
  overrunMs = 0;

  recordCall(microseconds: number): void {
    this.#histogram.record(Math.max(1, Math.round(microseconds)));
  }

  snapshot(): VerifierStats {
    const calls = this.#histogram.count;
    const percentileMs = (p: number) => (calls === 0 ? 0 : this.#histogram.percentile(p) / 1000);
    return {
      calls,
      p50Ms: percentileMs(50),
      p95Ms: percentileMs(95),
      p99Ms: percentileMs(99),
      busyMs: calls === 0 ? 0 : (this.#histogram.mean * calls) / 1000,
      timeouts: this.timeouts,
      crashes: this.crashes,
      retries: this.retries,
      unscored: this.unscored,
      overrunMs: this.overrunMs,
    };
  }
}
