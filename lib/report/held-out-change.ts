import type { EvaluationTable, RunSummary } from "./summary.ts";

/** Change of a score on held-out problems, in points (hundredths of a score). */
export interface HeldOutChange {
  /** After minus before. */
  readonly points: number;
  /** Standard error of `points`, the two evaluations taken as independent samples. */
  readonly error: number;
  /** "noise": within two standard errors. */
  readonly is: "gain" | "loss" | "noise";
}

const CLEAR = 2;
/**
 * Standard errors required for one domain among several: with five domains a fall beyond two is chance in one
 * run of nine.
 */
const CLEAR_OF_SEVERAL = 3;

type Measured = Pick<EvaluationTable["mean"], "score" | "standardError">;

/** The change of the mean over the domains; undefined where an evaluation is missing. */
export function meanChange(
  before: EvaluationTable | undefined,
  after: EvaluationTable | undefined,
): HeldOutChange | undefined {
  if (before === undefined || after === undefined || before.mean.n * after.mean.n === 0) return undefined;
  return changeOf(before.mean, after.mean, CLEAR);
}

/** The change of a whole run: under the sampling setting with temperature 1, or the first. */
export function runChange({
  before,
  after,
}: Pick<RunSummary, "before" | "after">): HeldOutChange | undefined {
  const hot = headlineSetting(before);
  return meanChange(before[hot], after[hot]);
}

/** Index of the sampling setting that sentences about a run speak of: the one with temperature 1, or the first. */
export function headlineSetting(before: RunSummary["before"]): number {
  return Math.max(
    0,
    before.findIndex((table) => table.temperature === 1),
  );
}

/**
 * Domains whose own score fell by more than three standard errors, with the size of the fall; the largest
 * fall first.
 */
export function fallenDomains(
  before: EvaluationTable,
  after: EvaluationTable,
): (readonly [string, HeldOutChange])[] {
  const changes = Object.entries(before.domains).flatMap(([name, was]) => {
    const is = after.domains[name];
    return is === undefined ? [] : [[name, changeOf(was, is, CLEAR_OF_SEVERAL)] as const];
  });
  return changes.filter(([, { is }]) => is === "loss").sort(([, a], [, b]) => a.points - b.points);
}

function changeOf(was: Measured, now: Measured, clear: number): HeldOutChange {
  const points = 100 * (now.score - was.score);
  const error = 100 * Math.hypot(was.standardError, now.standardError);
  if (Math.abs(points) <= clear * error) return { points, error, is: "noise" };
  return { points, error, is: points > 0 ? "gain" : "loss" };
}
