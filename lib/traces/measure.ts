import { CounterRandom } from "../random.ts";
import { type Interval, quantile } from "../suites/index.ts";
import { type Agreement, agreementOf } from "./agreement.ts";
import { CATEGORIES, type Category, NON_LINEAR } from "./categories.ts";
import type { ReadSide, ReadTrace } from "./trace.ts";

export interface Estimate {
  readonly value: number;
  /** 95 %, bootstrap over problems; absent for fewer than two. */
  readonly interval?: Interval | undefined;
}

/** A number for each side and, with two sides, the second minus the first. */
export interface Measure {
  readonly name: string;
  readonly percent: boolean;
  /** Undefined for a side without data. */
  readonly sides: readonly (Estimate | undefined)[];
  readonly difference?: Estimate | undefined;
}

export interface SideCounts {
  readonly name: string;
  readonly traces: number;
  readonly problems: number;
  readonly steps: number;
  /** Steps without a category. */
  readonly unclassified: number;
  readonly outages: Readonly<Record<string, number>>;
  readonly unsplit: number;
  /** Agreement of the two passes of a model over the steps; absent for one pass. */
  readonly agreement?: Agreement | undefined;
}

export interface TraceMeasures {
  /** Unit of lengths: characters if a folder has no token counts. */
  readonly unit: "tokens" | "characters";
  readonly sides: readonly SideCounts[];
  /** Steps per trace, length per trace and length per step; `right` has these numbers for right answers only. */
  readonly sizes: readonly Measure[];
  /**
   * A category's share of the classified steps, and of their length; the last row adds up the four non-linear
   * ones.
   */
  readonly ofSteps: readonly Measure[];
  readonly ofLength: readonly Measure[];
}

/** Sums over traces, whose ratio is measured. */
type Terms = (read: ReadTrace) => readonly [part: number, whole: number];

/** All measures of one side or two. */
export function measureTraces(sides: readonly ReadSide[]): TraceMeasures {
  const reads = sides.map(({ read }) => read);
  const unit = reads.flat().every(({ trace }) => trace.tokens !== undefined) ? "tokens" : "characters";
  const lengthOf = ({ trace }: ReadTrace): number => (unit === "tokens" ? trace.tokens! : trace.text.length);
  const measure = (name: string, percent: boolean, terms: Terms) => ratio(reads, { name, percent, terms });
  const sizes = (of: string, when: (read: ReadTrace) => boolean) => {
    const only =
      (terms: Terms): Terms =>
      (read) =>
        when(read) ? terms(read) : [0, 0];
    return [
      measure(
        `steps per trace${of}`,
        false,
        only(({ steps }) => [steps.length, 1]),
      ),
      measure(
        `${unit} per trace${of}`,
        false,
        only((read) => [lengthOf(read), 1]),
      ),
      measure(
        `${unit} per step${of}`,
        false,
        only((read) => [lengthOf(read), read.steps.length]),
      ),
    ];
  };
  const shares = (weighOf: (read: ReadTrace) => readonly number[]) => [
    ...CATEGORIES.map((category) =>
      measure(
        category,
        true,
        shareTerms(weighOf, (own) => own === category),
      ),
    ),
    measure(
      "non-linear, together",
      true,
      shareTerms(weighOf, (own) => NON_LINEAR.has(own)),
    ),
  ];
  return {
    unit,
    sides: sides.map(countsOf),
    sizes: [...sizes("", () => true), ...sizes(", right answers", ({ trace }) => trace.correct === true)],
    ofSteps: shares(({ steps }) => steps.map(() => 1)),
    ofLength: shares((read) => lengthsOf(read, lengthOf(read))),
  };
}

/** A trace's length distributed over its steps by their characters: a trace has no token count for each step. */
function lengthsOf({ steps, trace }: ReadTrace, length: number): number[] {
  return steps.map(({ from, to }) => (length * (to - from)) / Math.max(1, trace.text.length));
}

/** Unclassified steps are counted in neither part nor whole. */
const shareTerms =
  (weighOf: (read: ReadTrace) => readonly number[], counts: (category: Category) => boolean): Terms =>
  (read) => {
    const weights = weighOf(read);
    let [part, whole] = [0, 0];
    for (const [i, label] of read.labels.entries()) {
      if (label === undefined) continue;
      whole += weights[i]!;
      if (counts(label)) part += weights[i]!;
    }
    return [part, whole];
  };

function countsOf({ name, read, outages, unsplit }: ReadSide): SideCounts {
  const labels = read.flatMap((one) => one.labels);
  const pairs = read.flatMap(({ labels, second }) =>
    second === undefined ? [] : labels.map((label, i) => [label, second[i]] as const),
  );
  return {
    name,
    traces: read.length,
    problems: new Set(read.map(({ trace }) => trace.problem)).size,
    steps: labels.length,
    unclassified: labels.filter((label) => label === undefined).length,
    outages,
    unsplit,
    agreement: agreementOf(pairs),
  };
}

const RESAMPLES = 1000;
const TAIL = 0.025;

/** [part, whole] of a problem on each side, concatenated. */
type Sums = Float64Array;

/**
 * The ratio of two sums on each side. Bootstraps intervals by resampling problems, the same ones on both sides, so
 * that the difference for common problems is paired. Uses fixed draws.
 */
function ratio(
  reads: readonly (readonly ReadTrace[])[],
  { name, percent, terms }: { readonly name: string; readonly percent: boolean; readonly terms: Terms },
): Measure {
  const problems = sumsByProblem(reads, terms);
  const values = ratiosOf(problems, reads.length);
  const draws = problems.length < 2 ? [] : resampled(problems, reads.length);
  const estimate = (of: (ratios: readonly number[]) => number): Estimate | undefined => {
    const value = of(values);
    if (!Number.isFinite(value)) return undefined;
    return { value, interval: intervalOf(draws.map(of)) };
  };
  return {
    name,
    percent,
    sides: reads.map((_, side) => estimate((ratios) => ratios[side]!)),
    ...(reads.length === 2 && { difference: estimate(([before, after]) => after! - before!) }),
  };
}

function sumsByProblem(reads: readonly (readonly ReadTrace[])[], terms: Terms): Sums[] {
  const problems = new Map<string, Sums>();
  for (const [side, traces] of reads.entries()) {
    for (const read of traces) {
      const sums = problems.get(read.trace.problem) ?? new Float64Array(2 * reads.length);
      problems.set(read.trace.problem, sums);
      const [part, whole] = terms(read);
      sums[2 * side]! += part;
      sums[2 * side + 1]! += whole;
    }
  }
  return [...problems.values()].filter((sums) => sums.some((sum) => sum !== 0));
}

/** NaN for a side without data. */
function ratiosOf(problems: readonly Sums[], sides: number): number[] {
  const sums = new Float64Array(2 * sides);
  for (const own of problems) for (let i = 0; i < sums.length; i++) sums[i]! += own[i]!;
  return Array.from({ length: sides }, (_, side) => sums[2 * side]! / sums[2 * side + 1]!);
}

function resampled(problems: readonly Sums[], sides: number): number[][] {
  const n = problems.length;
  const random = new CounterRandom(0, n);
  return Array.from({ length: RESAMPLES }, () =>
    ratiosOf(
      Array.from({ length: n }, () => problems[Math.floor(random.next() * n)]!),
      sides,
    ),
  );
}

/** Bootstrap draws in which one side had no data do not count. */
function intervalOf(values: readonly number[]): Interval | undefined {
  const known = Float64Array.from(values.filter(Number.isFinite)).sort();
  if (known.length < 2) return undefined;
  return { low: quantile(known, TAIL), high: quantile(known, 1 - TAIL) };
}
