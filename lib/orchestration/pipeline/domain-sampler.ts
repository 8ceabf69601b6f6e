import { HoneError } from "../../errors.ts";
import { CounterRandom } from "../../random.ts";
import type { DomainName } from "../../records.ts";

const ADJUSTMENT_MIN = 0.1;
const ADJUSTMENT_MAX = 10;
const WARMUP_COMPLETIONS = 50;
/** Separates the random stream of domain choices from that of problem choices. */
const STREAM = 0x444f4d41;

export interface DomainSamplerOptions {
  /** w_d >= 0, any scale; normalised here. A domain of weight 0 is never picked. */
  readonly weights: Readonly<Record<DomainName, number>>;
  readonly seed: number;
  /** "static" draws by the weights alone. Default "adaptive". */
  readonly mode?: "adaptive" | "static";
}

/** Everything that decides the next pick, for checkpoints. */
export interface DomainSamplerState {
  readonly completed: Readonly<Record<DomainName, number>>;
  readonly picks: number;
}

/**
 * Picks the domain of the next prompt so that completed rollouts keep the configured mixture, however fast or slow
 * each domain is to generate and to verify.
 *
 * p_d proportional to w_d clip(w_d / (n_d / N), 0.1, 10) and p_d = w_d while N < 50
 *
 * w_d target weight, n_d rollouts completed in domain d, N their sum. A domain without completions gets the upper
 * bound. Every rollout that ends is counted, including truncated and unscored ones, before any group is filtered:
 * uncounted lost work would bias the mixture permanently.
 * Source: Apriel-Reasoner §4.1, eq. 4 and 5.
 */
export class DomainSampler {
  readonly #domains: readonly DomainName[];
  readonly #weights: readonly number[];
  /** Completed rollouts: by domain (n_d), and in all (N). */
  readonly #completed: number[];
  #total = 0;
  readonly #random: CounterRandom;
  readonly #adaptive: boolean;
  /** Cached p_d until a completion changes it: a step returns many credits at once. */
  #next: readonly number[] | undefined;

  /** Throws HONE_ERR_CONFIG when no domain has a weight greater than 0, or one is negative or not finite. */
  constructor(options: DomainSamplerOptions) {
    const entries = Object.entries(options.weights);
    const bad = entries.find(([, weight]) => !(weight >= 0 && weight < Number.POSITIVE_INFINITY));
    const sum = entries.reduce((total, [, weight]) => total + weight, 0);
    if (bad || sum === 0) {
      const found = bad ? `weight of domain ${bad[0]} is ${bad[1]}` : "no domain has a weight greater than 0";
      throw new HoneError("HONE_ERR_CONFIG", `domain sampler: ${found}; a weight is a number >= 0`);
    }
    this.#domains = entries.map(([domain]) => domain);
    this.#weights = entries.map(([, weight]) => weight / sum);
    this.#completed = this.#domains.map(() => 0);
    this.#random = new CounterRandom(options.seed, STREAM, STREAM, STREAM);
    this.#adaptive = options.mode !== "static";
  }

  /** The domain of the next prompt; pick i depends on the seed, i and the counts so far only. */
  pick(): DomainName {
    return this.#domains[this.#random.weighted(this.#probabilities())]!;
  }

  /** Call once for every rollout that ended, regardless of its outcome. */
  recordCompletion(domain: DomainName): void {
    const at = this.#domains.indexOf(domain);
    if (at < 0) throw new HoneError("HONE_ERR_STATE", `domain sampler: no domain ${domain}`);
    this.#completed[at]! += 1;
    this.#total += 1;
    this.#next = undefined;
  }

  /** Probabilities p_d of the next pick by domain; they sum to 1. */
  probabilities(): Map<DomainName, number> {
    return this.#byDomain(this.#probabilities());
  }

  /** The factor on w_d in the next pick, clip(w_d / (n_d / N), 0.1, 10): 1 while N < 50, and in mode "static". */
  adjustments(): Map<DomainName, number> {
    return this.#byDomain(this.#adjustments());
  }

  /** Target w_d and realised n_d / N (0 before the first completion), for the metrics. */
  mixture(): Map<DomainName, { readonly target: number; readonly realized: number }> {
    const total = Math.max(1, this.#total);
    return this.#byDomain(
      this.#weights.map((target, i) => ({ target, realized: this.#completed[i]! / total })),
    );
  }

  getState(): DomainSamplerState {
    return { completed: Object.fromEntries(this.#byDomain(this.#completed)), picks: this.#random.position };
  }

  /** Throws HONE_ERR_CHECKPOINT if the state is of other domains or has no counts. */
  setState(state: DomainSamplerState): void {
    const counts = this.#domains.map((domain) => state.completed[domain]);
    const isCount = (n: number | undefined) => Number.isSafeInteger(n) && n! >= 0;
    const known = Object.keys(state.completed).length === this.#domains.length;
    if (!known || !counts.every(isCount) || !isCount(state.picks)) {
      throw new HoneError("HONE_ERR_CHECKPOINT", "domain sampler: the saved state does not fit its domains", {
        details: { saved: Object.keys(state.completed), domains: this.#domains },
      });
    }
    this.#completed.splice(0, counts.length, ...(counts as number[]));
    this.#total = this.#completed.reduce((sum, count) => sum + count, 0);
    this.#random.position = state.picks;
    this.#next = undefined;
  }

  #probabilities(): readonly number[] {
    this.#next ??= this.#computed();
    return this.#next;
  }

  #computed(): readonly number[] {
    if (!this.#adjusts) return this.#weights;
    const adjustments = this.#adjustments();
    const raw = this.#weights.map((weight, i) => weight * adjustments[i]!);
    const sum = raw.reduce((a, b) => a + b, 0);
    return raw.map((p) => p / sum);
  }

  #adjustments(): readonly number[] {
    const adjusts = this.#adjusts;
    return this.#weights.map((weight, i) => (adjusts ? this.#adjustment(i, weight) : 1));
  }

  get #adjusts(): boolean {
    return this.#adaptive && this.#total >= WARMUP_COMPLETIONS;
  }

  #adjustment(domain: number, weight: number): number {
    const realized = this.#completed[domain]! / this.#total;
    if (realized === 0) return ADJUSTMENT_MAX;
    return Math.min(ADJUSTMENT_MAX, Math.max(ADJUSTMENT_MIN, weight / realized));
  }

  #byDomain<T>(values: readonly T[]): Map<DomainName, T> {
    return new Map(this.#domains.map((domain, i) => [domain, values[i]!]));
  }
}
