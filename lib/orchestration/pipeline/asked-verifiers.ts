import type { Clock } from "../../clock.ts";
import type { VerifierStatus } from "../../metrics/index.ts";
import type { Verdict } from "../../records.ts";
import type { VerificationRequest } from "../../rewards/index.ts";
import type { Verifiers } from "../setup/index.ts";

/** Completions that a verifier has been given and has not answered yet. */
export interface Asked {
  readonly out: number;
  /** Waiting time of the oldest unanswered completion, in milliseconds. */
  readonly oldestMs: number;
}

/** Wraps verifiers and tracks the completions that each of them has not answered yet. */
export class AskedVerifiers implements Verifiers {
  readonly #inner: Verifiers;
  readonly #clock: Clock;
  readonly #calls = new Set<{ readonly counts: ReadonlyMap<string, number>; readonly sinceMs: number }>();

  constructor(inner: Verifiers, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  async verify(requests: readonly VerificationRequest[]): Promise<Verdict[]> {
    const counts = new Map<string, number>();
    for (const { problem } of requests) counts.set(problem.verifier, (counts.get(problem.verifier) ?? 0) + 1);
    const call = { counts, sinceMs: this.#clock.now() };
    this.#calls.add(call);
    try {
      return await this.#inner.verify(requests);
    } finally {
      this.#calls.delete(call);
    }
  }

  stats(): ReturnType<Verifiers["stats"]> {
    return this.#inner.stats();
  }

  /** Verifiers with pending work, by name. */
  get asked(): Map<string, Asked> {
    const asked = new Map<string, Asked>();
    const now = this.#clock.now();
    for (const { counts, sinceMs } of this.#calls) {
      for (const [name, count] of counts) {
        const { out, oldestMs } = asked.get(name) ?? { out: 0, oldestMs: 0 };
        asked.set(name, { out: out + count, oldestMs: Math.max(oldestMs, now - sinceMs) });
      }
    }
    return asked;
  }
}

/** Every verifier that has been called so far, sorted by name. */
export function verifierStatuses(verifiers: AskedVerifiers): VerifierStatus[] {
  const { asked } = verifiers;
  const stats = verifiers.stats();
  const names = [...new Set([...Object.keys(stats), ...asked.keys()])].sort();
  return names.map((name) => {
    const { calls = 0, timeouts = 0, crashes = 0, unscored = 0, latencyMs, limitMs } = stats[name] ?? {};
    const { out, oldestMs } = asked.get(name) ?? { out: 0, oldestMs: 0 };
    const { p50 = 0, p95 = 0 } = latencyMs ?? {};
    return { name, out, oldestMs, limitMs, calls, timeouts, crashes, unscored, p50Ms: p50, p95Ms: p95 };
  });
}
