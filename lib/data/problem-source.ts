import type { DomainName, Problem } from "../records.ts";
import type { DatasetReport, HubOrigin } from "./census.ts";
import type { DatasetOptions } from "./row-reader.ts";
import type { RowThread } from "./row-threads.ts";

/**
 * An endless supply of problems of one domain. Training and held-out problems are pure functions of (seed, index), so
 * a run can be resumed or replayed from the indices alone.
 */
export interface ProblemSource {
  readonly domain: DomainName;
  readonly families: readonly string[];
  /** The index-th training problem; never one of the held-out questions. */
  problem(index: number): Problem;
  /**
   * The index-th evaluation problem, always one of the held-out questions. Generated problems alternate between
   * families and levels, so that any 4 * families.length consecutive ones are balanced; rows of a data set are
   * ordered by content, so that the first n are a sample. Small families repeat questions, never ids.
   */
  heldOut(index: number): Problem;
  /** Number of training problems that a curriculum may choose from: problem(k * count + n) is the n-th, for every k. */
  readonly trainingCount?: number;
  /** Number of held-out questions if it is finite; an evaluation asks each at most once. */
  readonly heldOutCount?: number;
  /** Content keys of the held-out rows of a data set, in the order they are asked. */
  readonly heldOutKeys?: readonly string[];
  /** Counts of the rows of a data set by outcome. */
  readonly report?: DatasetReport;
  /** File and line of the row that a problem of a data set is made of: "data/mine.jsonl:17". */
  placeOf?(id: number): string | undefined;
}

/** Data with which a worker thread judges the rows of a data set as this thread does. It can be sent, as it contains no function. */
export interface RowsTask {
  readonly spec: DatasetOptions & { readonly kind: string };
  readonly place: Pick<SourceOptions, "domain" | "needsReference" | "keepsColumns" | "elsewhere">;
}

/** Facts about the run that a source of problems needs. */
export interface SourceOptions {
  /** Run seed, a safe integer >= 0. */
  readonly seed: number;
  /** Place of the source among the run's sources, 0..63; enters every problem id. */
  readonly ordinal: number;
  /** Name of the domain in the recipe. */
  readonly domain?: DomainName;
  /** False if no verifier reads the references, so that rows without an answer can be used too. Default true. */
  readonly needsReference?: boolean;
  /** Keep the whole row with each problem of a data set, as Problem.columns. Default false. */
  readonly keepsColumns?: boolean;
  /** Content keys of the held-out rows as a resumed run recorded them; they replace the data set's own hold-out options. */
  readonly heldOut?: ReadonlySet<string>;
  /** True if a curriculum selects training problems by position (ProblemSource.trainingCount). */
  readonly byPlace?: boolean;
  /** Data sets of the Hub that the files come from, for the report. */
  readonly hub?: readonly HubOrigin[];
  /** Content keys of rows that a validation set uses: these rows are left out. */
  readonly elsewhere?: ReadonlySet<string>;
  /** Creates threads that read rows according to a task; by default one thread reads all. */
  readonly openThreads?: (task: RowsTask) => readonly RowThread[];
}
