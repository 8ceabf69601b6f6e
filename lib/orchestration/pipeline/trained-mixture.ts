import type { DomainName } from "../../records.ts";

/** Rollouts of one domain since the run began. */
export interface MixtureCounts {
  readonly submitted: number;
  /** Submitted rollouts that are neither trained nor dropped yet. */
  readonly outstanding: number;
  readonly trained: number;
  /** Rollouts that a replay buffer trained again, counted each time that they train. Default: 0. */
  readonly replayed?: number;
}

type Counts = Readonly<Record<DomainName, MixtureCounts>>;

/** Lower bound of a domain's keep rate, so that its share stays finite. */
const KEEP_RATE_MIN = 0.02;

/**
 * Picks the domain of the next prompt so that the *trained* rollouts keep the mixture, regardless of the share of
 * each domain's groups that the filter drops. Weighted fair queueing on expected trained rollouts:
 *
 * d = argmin e_d / w_d e_d = trained_d + replayed_d + k_d outstanding_d k_d = (trained_d + G) / (settled_d + G)
 *
 * w_d target weight, replayed_d rollouts that a buffer trained again, k_d the domain's keep rate so far (it starts at
 * 1), G group size; ties go to the first domain. No domain submits more than (1 + w_d) / 2 of all rollouts, so that
 * one whose groups are always dropped leaves the others at least half of theirs. Uses no random numbers: a pick
 * depends on the counts alone.
 */
export class TrainedMixture {
  readonly #weights: ReadonlyMap<DomainName, number>;
  readonly #groupSize: number;

  /** @param weights w_d >= 0 that sum to 1; a domain of weight 0 is never picked @param groupSize G */
  constructor(weights: ReadonlyMap<DomainName, number>, groupSize: number) {
    this.#weights = weights;
    this.#groupSize = groupSize;
  }

  pick(counts: Counts): DomainName {
    const total = sum(Object.values(counts).map(({ submitted }) => submitted));
    const mayTake = ([domain, weight]: readonly [DomainName, number]) =>
      weight > 0 && counts[domain]!.submitted <= ((1 + weight) / 2) * total;
    const relative = ([domain, weight]: readonly [DomainName, number]) => {
      const { trained, replayed = 0, outstanding } = counts[domain]!;
      return (trained + replayed + this.#keepRate(counts[domain]!) * outstanding) / weight;
    };
    const allowed = [...this.#weights].filter(mayTake);
    return allowed.reduce((best, one) => (relative(one) < relative(best) ? one : best))[0];
  }

  /** Share of the prompts that each domain needs at its keep rate so far: w_d / k_d, normalised. */
  shares(counts: Counts): Map<DomainName, number> {
    const raw = [...this.#weights].map(([d, weight]) => [d, weight / this.#keepRate(counts[d]!)] as const);
    const total = sum(raw.map(([, share]) => share));
    return new Map(raw.map(([domain, share]) => [domain, share / total]));
  }

  #keepRate({ submitted, outstanding, trained }: MixtureCounts): number {
    const settled = submitted - outstanding;
    return Math.max(KEEP_RATE_MIN, (trained + this.#groupSize) / (settled + this.#groupSize));
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
