import { CounterRandom } from "../random.ts";
import type { DomainName } from "../records.ts";
import type { Spread, Workload } from "./machine.ts";

/** Simulated answers to one problem. */
export interface GroupOutcome {
  readonly promptTokens: number;
  /** Tokens of each attempt, at least 1. */
  readonly lengths: readonly number[];
  /** Seconds of a verifier's worker for each attempt. */
  readonly verify: readonly number[];
  readonly kept: boolean;
}

/** Returns the outcome of the index-th problem of a domain. @param step the run's current one */
export type Outcomes = (domain: DomainName, index: number, attempts: number, step: number) => GroupOutcome;

/** Stream number that separates draws of answers from those of the domain sampler and of problems. */
const STREAM = 0x53494d55;

/**
 * Lognormal answers. The draws of a problem depend on the seed, its domain and its index alone, so that two machines
 * are compared on the same answers.
 */
export function drawnOutcomes(
  workloads: Readonly<Record<DomainName, Workload>>,
  seed: number,
  maxOutputTokens: number,
): Outcomes {
  const laws = new Map(
    Object.entries(workloads).map(([domain, workload], i) => [domain, lawOf(workload, i)]),
  );
  return (domain, index, attempts) => {
    const { number, keep, shared, own, tokens, seconds, verify, promptTokens } = laws.get(domain)!;
    const draws = new Draws(new CounterRandom(seed, STREAM, number, index));
    const kept = draws.uniform() < keep;
    const problem = draws.normal() * shared;
    const lengths: number[] = [];
    const times: number[] = [];
    for (let i = 0; i < attempts; i++) {
      const wanted = Math.round(tokens(problem + own * draws.normal()));
      lengths.push(Math.min(maxOutputTokens, Math.max(1, wanted)));
      times.push(verify.cv === 0 ? verify.mean : seconds(draws.normal()));
    }
    return { promptTokens, lengths, verify: times, kept };
  };
}

/** Distributions shared by all problems of a domain. @param number its index among the domains */
const lawOf = ({ length, alike, promptTokens, keep, verify }: Workload, number: number) => ({
  number,
  keep,
  shared: Math.sqrt(alike),
  own: Math.sqrt(1 - alike),
  tokens: lognormal(length),
  seconds: lognormal(verify),
  verify,
  promptTokens,
});

/** Maps a standard normal draw to a lognormal one with this mean and spread. */
function lognormal({ mean, cv }: Spread): (normal: number) => number {
  const variance = Math.log1p(cv * cv);
  const middle = Math.log(mean) - variance / 2;
  const deviation = Math.sqrt(variance);
  return (normal) => Math.exp(middle + deviation * normal);
}

/** Box-Muller: two uniform draws give two normal ones. */
class Draws {
  readonly #random: CounterRandom;
  #spare: number | undefined;

  constructor(random: CounterRandom) {
    this.#random = random;
  }

  uniform(): number {
    return this.#random.next();
  }

  normal(): number {
    const spare = this.#spare;
    if (spare !== undefined) {
      this.#spare = undefined;
      return spare;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.#random.next()));
    const angle = 2 * Math.PI * this.#random.next();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
}
