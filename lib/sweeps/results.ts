import { existsSync } from "node:fs";
import { join } from "node:path";
import { type HeldOutAnswers, readAnswers } from "../evaluation/index.ts";
import { RUN_FILES, type Stretch } from "../metrics/index.ts";
import { type EvaluationTable, type RunSummary, readRunFolder, type Score } from "../report/index.ts";
import type { JobEntry } from "./job-states.ts";
import { pairedSpread, type Spread, spreadOf } from "./spread.ts";

/** A finished run of a sweep. */
export interface RunResult {
  readonly seed: number;
  readonly summary: RunSummary;
  /** Step records from the run's log, in order. */
  readonly steps: readonly Stretch[];
  /** Held-out answers under the first sampling setting; empty for a folder of an earlier version. */
  readonly before: readonly HeldOutAnswers[];
  readonly after: readonly HeldOutAnswers[];
}

/** A cell with the runs that are finished, by seed. */
export interface CellResult {
  readonly name: string;
  readonly runs: readonly RunResult[];
}

/** Reads the finished runs of each cell. Throws HONE_ERR_IO, HONE_ERR_FORMAT naming the file. */
export function readCells(dir: string, names: readonly string[], jobs: readonly JobEntry[]): CellResult[] {
  return names.map((name) => ({
    name,
    runs: jobs
      .filter(({ cell, state }) => cell === name && state === "done")
      .map(({ id, seed }) => readRun(join(dir, id), seed)),
  }));
}

function readRun(dir: string, seed: number): RunResult {
  const { summary, steps } = readRunFolder(dir);
  const answers = (file: string) => {
    const path = join(dir, file);
    return existsSync(path) ? readAnswers(path).filter(({ set }) => set === undefined) : [];
  };
  return {
    seed,
    summary: summary!, // a finished job has a summary
    steps,
    before: answers(RUN_FILES.heldOutBefore),
    after: answers(RUN_FILES.heldOutAfter),
  };
}

/** A measure of an evaluation under the first sampling setting: of a domain, of a validation set, or the mean. */
export type Measure = "score" | "solveRate" | "meanTokens" | "truncation";

export const MEAN = "mean";

function scoreOf(table: EvaluationTable | undefined, domain: string): Score | undefined {
  return domain === MEAN ? table?.mean : (table?.domains[domain] ?? table?.sets?.[domain]);
}

/** Values by seed, after training or before it. */
export function bySeed(
  { runs }: CellResult,
  measure: Measure,
  domain: string = MEAN,
  when: "before" | "after" = "after",
): Map<number, number> {
  return new Map(
    runs.flatMap(({ seed, summary }) => {
      const score = scoreOf(summary[when][0], domain);
      return score === undefined ? [] : [[seed, score[measure]] as const];
    }),
  );
}

export const over = (cell: CellResult, measure: Measure, domain?: string, when?: "before" | "after") =>
  spreadOf([...bySeed(cell, measure, domain, when).values()]);

/** Difference to another cell, seed by seed. */
export const moreThan = (
  base: CellResult,
  cell: CellResult,
  measure: Measure,
  domain?: string,
): Spread | undefined => pairedSpread(bySeed(base, measure, domain), bySeed(cell, measure, domain));

/** Domains that any run was evaluated on, in the order of the first run, then validation sets. */
export function domainsOf(cells: readonly CellResult[]): string[] {
  const tables = cells.flatMap(({ runs }) => runs.flatMap(({ summary }) => summary.after.slice(0, 1)));
  const named = (of: (table: EvaluationTable) => object) => tables.flatMap((table) => Object.keys(of(table)));
  return [...new Set([...named(({ domains }) => domains), ...named(({ sets = {} }) => sets)])];
}
