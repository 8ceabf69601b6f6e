import { type Question, runOf } from "../question.ts";
import type { StepTable } from "../step-table.ts";
import type { VerifierRow } from "../wire.ts";

const OF_VERIFIERS = "verifier/";
const CALLS = `${OF_VERIFIERS}calls/`;
const PERCENTILE = `${OF_VERIFIERS}p95-ms/`;
/**
 * Decimal digits to which sums are rounded: a count that was divided by the steps and multiplied again becomes the
 * original count.
 */
const EXACT_DIGITS = 15;
/** Counts of a step, by what they are called in a row. */
const COUNTS = {
  judged: "judged",
  correct: "correct",
  partial: "partial",
  unscored: "unscored",
  calls: "calls",
  retries: "retries",
  timeouts: "timed-out",
  crashes: "crashed",
} as const;

/** True if a metric is shown in this table. */
export const isOfVerifiers = (metric: string): boolean => metric.startsWith(OF_VERIFIERS);

/** Aggregates a metric over steps: the sum of counts and seconds, the mean of a percentile. @param mean over `steps` steps */
export function ofVerifiers(metric: string, mean: number, steps: number): number {
  if (steps === 1) return mean;
  return Number((metric.startsWith(PERCENTILE) ? mean : mean * steps).toPrecision(EXACT_DIGITS));
}

/** Totals of each verifier that was called, over all steps of a run's log, by name. */
export function verifiers(question: Question): readonly VerifierRow[] {
  const { table } = runOf(question);
  const names = table.names.filter((name) => name.startsWith(CALLS)).map((name) => name.slice(CALLS.length));
  return names.sort().map((name) => rowOf(table, name));
}

function rowOf(table: StepTable, name: string): VerifierRow {
  const column = (field: string) => table.column(`verifier/${field}/${name}`);
  const sum = (field: string) => column(field)?.reduce((total: number, value) => total + (value ?? 0), 0);
  const counts = Object.fromEntries(
    Object.entries(COUNTS).flatMap(([count, field]) => {
      const total = sum(field);
      return total === undefined ? [] : [[count, total]];
    }),
  );
  const seconds = sum("seconds");
  const calls = counts["calls"]!;
  const p95Ms = column("p95-ms")?.findLast((ms) => ms !== null) ?? undefined;
  return {
    name,
    ...counts,
    ...(seconds !== undefined && calls > 0 && { meanMs: (1000 * seconds) / calls }),
    ...(p95Ms !== undefined && { p95Ms }),
  };
}
