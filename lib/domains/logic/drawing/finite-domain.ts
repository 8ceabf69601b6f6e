import type { CounterRandom } from "../../../random.ts";

/**
 * Finite-domain constraint search. A variable takes a value in 0..30, its domain is a bit mask; constraints remove
 * values that no solution has, and the search branches on the smallest domain left.
 */

/** Largest value a variable can take: domains are the 31 low bits of a word. */
const MAX_VALUE = 30;

export const bit = (value: number): number => 1 << value;
/** The smallest value of a mask that is not 0. */
const lowest = (mask: number): number => 31 - Math.clz32(mask & -mask);
/** The mask of low..high, both included. */
export const span = (low: number, high: number): number => (2 ** (high + 1) - 2 ** low) | 0;

/** The domains during a search; a domain that shrinks triggers the constraints on it. */
export class Domains {
  readonly masks: Int32Array;
  readonly #wake: (variable: number) => void;

  constructor(masks: Int32Array, wake: (variable: number) => void) {
    this.masks = masks;
    this.#wake = wake;
  }

  /** Removes the values outside `mask`; false if none is left. */
  keep(variable: number, mask: number): boolean {
    const before = this.masks[variable]!;
    const after = before & mask;
    if (after === before) return true;
    this.masks[variable] = after;
    if (after === 0) return false;
    this.#wake(variable);
    return true;
  }

  isFixed(variable: number): boolean {
    const mask = this.masks[variable]!;
    return (mask & (mask - 1)) === 0;
  }

  /** The largest remaining value of a variable; for a fixed variable, its value. */
  value(variable: number): number {
    return 31 - Math.clz32(this.masks[variable]!);
  }
}

export interface Constraint {
  /** The variables whose change triggers the constraint. */
  readonly variables: readonly number[];
  /** Removes values that no solution has; false when there is no solution. */
  prune(domains: Domains): boolean;
}

/** Requires all variables to differ. Also finds the only position left for a value, if every value is needed. */
export function allDifferent(variables: readonly number[]): Constraint {
  return {
    variables,
    prune(domains) {
      let seen = 0;
      let twice = 0;
      for (const v of variables) {
        const mask = domains.masks[v]!;
        twice |= seen & mask;
        seen |= mask;
        if (!domains.isFixed(v)) continue;
        for (const other of variables) if (other !== v && !domains.keep(other, ~mask)) return false;
      }
      const values = valuesOf(seen).length;
      if (values > variables.length) return true;
      const once = seen & ~twice;
      return (
        values === variables.length &&
        variables.every((v) => (domains.masks[v]! & once) === 0 || domains.keep(v, once))
      );
    },
  };
}

/** One term of a sum: the variable's weight at each of its values. */
export interface Term {
  readonly variable: number;
  /** Indexed by value. */
  readonly weights: readonly number[];
}

/**
 * Requires low <= sum of the terms <= high. Prunes by the least and the largest sum that the domains allow.
 */
export function sumWithin(terms: readonly Term[], low: number, high: number): Constraint {
  const least = new Float64Array(terms.length);
  const most = new Float64Array(terms.length);
  const bounds = (domains: Domains) => {
    let leastSum = 0;
    let mostSum = 0;
    for (let i = 0; i < terms.length; i++) {
      const { variable, weights } = terms[i]!;
      least[i] = Number.POSITIVE_INFINITY;
      most[i] = Number.NEGATIVE_INFINITY;
      for (let left = domains.masks[variable]!; left !== 0; left &= left - 1) {
        const weight = weights[lowest(left)]!;
        least[i] = Math.min(least[i]!, weight);
        most[i] = Math.max(most[i]!, weight);
      }
      leastSum += least[i]!;
      mostSum += most[i]!;
    }
    return { leastSum, mostSum };
  };
  return {
    variables: terms.map((term) => term.variable),
    prune(domains) {
      const { leastSum, mostSum } = bounds(domains);
      if (leastSum > high || mostSum < low) return false;
      if (leastSum >= low && mostSum <= high) return true;
      for (let i = 0; i < terms.length; i++) {
        const { variable, weights } = terms[i]!;
        // The smallest contribution of this term to the sum if all other terms contribute their maximum, and the
        // largest if they contribute their least.
        const floor = low - mostSum + most[i]!;
        const ceiling = high - leastSum + least[i]!;
        if (least[i]! >= floor && most[i]! <= ceiling) continue;
        let kept = 0;
        for (let left = domains.masks[variable]!; left !== 0; left &= left - 1) {
          const value = lowest(left);
          if (weights[value]! >= floor && weights[value]! <= ceiling) kept |= bit(value);
        }
        if (!domains.keep(variable, kept)) return false;
      }
      return true;
    },
  };
}

/** Terms that count the variables which are 1. */
export function ones(variables: readonly number[]): Term[] {
  return variables.map((variable) => ({ variable, weights: [0, 1] }));
}

/** Requires the variables, in order, to take the values of one of the tuples. */
export function oneOf(variables: readonly number[], tuples: readonly (readonly number[])[]): Constraint {
  const supported = new Int32Array(variables.length);
  const width = variables.length;
  const fits = ({ masks }: Domains, tuple: readonly number[]) => {
    for (let i = 0; i < width; i++) if ((masks[variables[i]!]! & bit(tuple[i]!)) === 0) return false;
    return true;
  };
  return {
    variables,
    prune(domains) {
      supported.fill(0);
      for (const tuple of tuples) {
        if (!fits(domains, tuple)) continue;
        for (let i = 0; i < width; i++) supported[i]! |= bit(tuple[i]!);
      }
      return variables.every((v, i) => domains.keep(v, supported[i]!));
    },
  };
}

/** A condition on the complete assignment that is too costly, or too weak, for pruning. */
export function finallyHolds(
  variables: readonly number[],
  holds: (value: (variable: number) => number) => boolean,
): Constraint {
  return {
    variables,
    prune: (domains) =>
      !variables.every((v) => domains.isFixed(v)) || holds((variable) => domains.value(variable)),
  };
}

export interface Model {
  /** Domain of each variable at the start, as masks. */
  readonly domains: readonly number[];
  readonly constraints: readonly Constraint[];
}

export interface SearchOptions {
  /** Stops after this many solutions. Default 2: enough to tell one from several. */
  readonly limit?: number;
  /** Gives up after this many branches. Default 20,000. */
  readonly maxNodes?: number;
  /** Tries values in random order: the first solution is then a random one, though not uniformly. */
  readonly random?: CounterRandom;
}

export interface SearchResult {
  /** Values by variable. */
  readonly solutions: readonly (readonly number[])[];
  /** Number of branches that the search took; 0 if pruning alone decided. */
  readonly nodes: number;
  /** False if the search gave up: there may be further solutions. Also true if `limit` was reached. */
  readonly complete: boolean;
}

/** The values of a mask, ascending. */
export function valuesOf(mask: number): number[] {
  const values: number[] = [];
  for (let left = mask; left !== 0; left &= left - 1) values.push(lowest(left));
  return values;
}

/** Searches depth first; the depth is bounded by the number of variables. */
export function search(model: Model, options: SearchOptions = {}): SearchResult {
  return new Search(model, options).run();
}

class Search {
  readonly #constraints: readonly Constraint[];
  readonly #watchers: readonly (readonly number[])[];
  readonly #masks: Int32Array;
  readonly #domains: Domains;
  readonly #waiting: Set<number>;
  readonly #limit: number;
  readonly #maxNodes: number;
  readonly #random: CounterRandom | undefined;
  readonly #solutions: number[][] = [];
  #nodes = 0;

  constructor({ domains, constraints }: Model, { limit = 2, maxNodes = 20_000, random }: SearchOptions) {
    this.#constraints = constraints;
    const watchers: number[][] = domains.map(() => []);
    for (const [i, c] of constraints.entries()) for (const v of new Set(c.variables)) watchers[v]!.push(i);
    this.#watchers = watchers;
    this.#masks = Int32Array.from(domains);
    this.#waiting = new Set(constraints.keys());
    this.#domains = new Domains(this.#masks, (variable) => {
      for (const i of this.#watchers[variable]!) this.#waiting.add(i);
    });
    this.#limit = limit;
    this.#maxNodes = maxNodes;
    this.#random = random;
  }

  run(): SearchResult {
    const complete = !this.#masks.includes(0) && this.#settle() ? this.#descend() : true;
    return { solutions: this.#solutions, nodes: this.#nodes, complete };
  }

  /** Prunes until nothing changes; returns false on a contradiction. */
  #settle(): boolean {
    for (const i of this.#waiting) {
      this.#waiting.delete(i);
      if (!this.#constraints[i]!.prune(this.#domains)) {
        this.#waiting.clear();
        return false;
      }
    }
    return true;
  }

  /** Explores all assignments within the current domains; false if it gave up. */
  #descend(): boolean {
    const variable = this.#smallestOpen();
    if (variable < 0) {
      this.#solutions.push(Array.from(this.#masks, (_, v) => this.#domains.value(v)));
      return true;
    }
    const values = valuesOf(this.#masks[variable]!);
    const saved = this.#masks.slice();
    for (const value of this.#random?.shuffle(values) ?? values) {
      if (this.#solutions.length >= this.#limit) return true;
      if (this.#nodes >= this.#maxNodes) return false;
      this.#nodes += 1;
      this.#domains.keep(variable, bit(value));
      if (this.#settle() && !this.#descend()) return false;
      this.#masks.set(saved);
    }
    return true;
  }

  #smallestOpen(): number {
    let best = -1;
    let fewest = MAX_VALUE + 2;
    for (const [v, mask] of this.#masks.entries()) {
      if ((mask & (mask - 1)) === 0) continue;
      const size = valuesOf(mask).length;
      if (size < fewest) [best, fewest] = [v, size];
      if (size === 2) break;
    }
    return best;
  }
}
