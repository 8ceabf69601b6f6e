import type { CounterRandom } from "../random.ts";
import type { DomainName } from "../records.ts";

/** Difficulty levels of every family, 0 = easiest. */
export const LEVELS = 4;

/** A problem together with how a competent writer would work it out. */
export interface Draft {
  readonly question: string;
  /** A right answer in the form the verifier accepts. */
  readonly answer: string;
  /** The working, items separated by single spaces. */
  readonly steps: string;
  /** Reference of the family's verifier. */
  readonly reference: unknown;
}

/** One kind of procedural problem. */
export interface Family {
  readonly name: string;
  readonly domain: DomainName;
  /** Name in the verifier registry. */
  readonly verifier: string;
  draw(random: CounterRandom, level: number): Draft;
}

/** The level's entry of a four-entry table. */
export function atLevel<T>(table: readonly [T, T, T, T], level: number): T {
  const entry = table[level];
  if (entry === undefined) throw new RangeError(`level is ${level}, expected 0..${LEVELS - 1}`);
  return entry;
}
