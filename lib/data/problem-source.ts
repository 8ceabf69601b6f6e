import type { DomainName, Problem } from "../records.ts";
import type { DatasetReport, HubOrigin } from "./census.ts";
import type { DatasetOptions } from "./row-reader.ts";
import type { RowThread } from "./row-threads.ts";

/**
 * An endless supply of problems of one domain. Both draws are pure functions of (seed, index), so a run can
 * be resumed or replayed from the indices alone.
 */
export interface ProblemSource {
  readonly domain: DomainName;
  readonly families: readonly string[];
  /** The index-th training problem; never one of the held-out questions. */
  problem(index: number): Problem;
  /**
   * The index-th evaluation problem, always of the held-out questions. Made-up ones take turns of family and level, so
   * that any 4 * families.length consecutive ones are balanced; those of a data set are in an order of their content,
   * so that the first n are a sample of it. Small spaces repeat questions, never ids.
   */
  heldOut(index: number): Problem;
  /** Number of training problems where a curriculum chooses among them: problem(k * count + n) is the n-th, whatever k. */
  readonly trainingCount?: number;
  /** Number of held-out questions, if finite; evaluation asks none twice. */
  readonly heldOutCount?: number;
  /** Content keys of the held-out rows of a data set, in the order they are asked. */
  readonly heldOutKeys?: readonly string[];
  /** Counts of the rows of a data set by outcome. */
  readonly report?: DatasetReport;
  /** File and line of the row that a problem of a data set is made of: "data/mine.jsonl:17". */
  placeOf?(id: number): string | undefined;
}

/** What another thread needs to know to judge the rows of a data set as this one does: no function. */
export interface RowsTask {
  readonly spec: DatasetOptions & { readonly kind: string };
  readonly place: Pick<SourceOptions, "domain" | "needsReference" | "keepsColumns" | "elsewhere">;
}

/** What a source of problems is told of the run that draws from it. */
export interface SourceOptions {
  /** Run seed, a safe integer >= 0. */
  readonly seed: number;
  /** Place of the source among the run's sources, 0..63; enters every problem id. */
  readonly ordinal: number;
  /** Name of the domain in the recipe. */
  readonly domain?: DomainName;
  /** False where no verifier reads the references, so that rows without an answer are problems too. Default true. */
  readonly needsReference?: boolean;
  /** Keep the whole row with each problem of a data set, as Problem.columns. Default false. */
  readonly keepsColumns?: boolean;
  /** Content keys of the rows of a data set that are held out, whatever its own options say: those of a run that goes on. */
  readonly heldOut?: ReadonlySet<string>;
  /** Training problems are told apart by place, for a curriculum to choose from (ProblemSource.trainingCount). */
  readonly byPlace?: boolean;
  /** Data sets of the Hub that the files come from, for the report. */
  readonly hub?: readonly HubOrigin[];
  /** Content keys of rows that a validation set asks: the rows are left out. */
  readonly elsewhere?: ReadonlySet<string>;
  /** Makes threads that read rows as a task says; by default one thread reads all. */
  readonly openThreads?: (task: RowsTask) => readonly RowThread[];
}
