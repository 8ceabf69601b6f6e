import { DatasetSource } from "../data/dataset-source.ts";
import { mapped } from "../data/mapped-rows.ts";
import type { ProblemSource, RowsTask, SourceOptions } from "../data/problem-source.ts";
import { RowFilter } from "../data/row-filter.ts";
import { type Admission, RowJudge } from "../data/row-judge.ts";
import { loadRowMap, rowMapOf, type WrittenMap } from "../data/row-map.ts";
import type { DatasetOptions, RowReader } from "../data/row-reader.ts";
import { withColumns } from "../data/whole-rows.ts";
import { HoneError } from "../errors.ts";
import { type JsonlReading, jsonl } from "./jsonl.ts";
import { countdown } from "./logic/read/countdown.ts";
import { DOMAINS } from "./registry.ts";
import { verl } from "./verl.ts";

/** One object type with the fields of every member of a union. */
type Merged<Union> = (Union extends unknown ? (part: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

const READERS = Object.assign({}, ...Object.values(DOMAINS).map(({ datasets }) => datasets)) as Merged<
  (typeof DOMAINS)[keyof typeof DOMAINS]["datasets"]
>;

/**
 * Every kind of data set by its name in a recipe: a published set's reader, or a function that creates a
 * reader from options.
 */
export const DATASETS = { jsonl, verl, ...READERS, countdown };

export type DatasetKind = keyof typeof DATASETS;
type OptionsOf<R> = R extends RowReader<infer Options> | ((options: never) => RowReader<infer Options>)
  ? Options
  : never;

/** A data set and its options, as in a recipe. */
export type DatasetSpec = {
  readonly [K in DatasetKind]: { readonly kind: K } & OptionsOf<(typeof DATASETS)[K]>;
}[DatasetKind];

/** Short names for "kind:path". */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries<RowReader<DatasetOptions>>(READERS).flatMap(([kind, { alias }]) =>
    alias ? [[alias, kind] as const] : [],
  ),
);

/** The data set that "kind:path" names; undefined if the text before the first colon is no kind. */
export function parseDatasetSpec(text: string): DatasetSpec | undefined {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(0, colon));
  const kind = ALIASES.get(name) ?? name;
  const path = text.slice(colon + 1);
  return isDatasetKind(kind) && path !== "" ? { kind, path } : undefined;
}

export function isDatasetKind(name: string): name is DatasetKind {
  return Object.hasOwn(DATASETS, name);
}

/**
 * Returns the reader of a data set's rows, or of the rows that its map returns. Throws HONE_ERR_CONFIG if the options
 * are incomplete, or the map is not in this process (loadMap).
 * @param keepsColumns keeps all columns of the rows, after the map if there is one
 */
export function readerOf(spec: DatasetSpec, keepsColumns = false): RowReader<DatasetOptions> {
  const known = DATASETS[spec.kind];
  const plain: RowReader<DatasetOptions> = typeof known === "function" ? known(spec as JsonlReading) : known;
  const reader = keepsColumns ? withColumns(plain) : plain;
  if (spec.map === undefined) return reader;
  const map = rowMapOf(spec.map);
  if (map === undefined) throw mapNotHere(spec.map as WrittenMap);
  const { columns: _, ...rest } = reader; // a map may need other columns
  return { ...rest, open: (options) => mapped(reader.open(options), map) };
}

/** Loads the function of the data set's map if the map names a module. Throws HONE_ERR_CONFIG. */
export async function loadMap<T extends DatasetSpec>(spec: T): Promise<T> {
  const { map } = spec;
  if (map === undefined || typeof map === "function" || !("module" in map)) return spec;
  return { ...spec, map: await loadRowMap(map) };
}

function mapNotHere(map: WrittenMap): HoneError {
  const name = "function" in map ? map.function : map.module;
  return new HoneError(
    "HONE_ERR_CONFIG",
    `map: the function ${name} is not available in this process, only its name`,
    {
      hint: 'Run the script that has it, or put it into a module: map: "./rows.ts#toRow".',
    },
  );
}

/**
 * The data set as the source of a domain: a set that suits any domain is assigned to this one.
 * @param needsReference false if no verifier reads the rows' answers
 */
export function ofDomain(spec: DatasetSpec, domain: string | undefined, needsReference = true): DatasetSpec {
  if (typeof DATASETS[spec.kind] !== "function") return spec;
  return { domain, ...spec, ...(needsReference ? {} : { needsReference }) } as DatasetSpec;
}

/** False if the rows of a data set need no reference, because no verifier reads them. */
export const needsReference = (spec: DatasetSpec): boolean =>
  !("needsReference" in spec && spec.needsReference === false);

/** The reader of a task's rows. */
const readerOfTask = ({ spec, place: { domain, needsReference, keepsColumns } }: RowsTask) =>
  readerOf(ofDomain(spec as DatasetSpec, domain, needsReference), keepsColumns);

/** Judges the rows of a task. */
export const judgeOf = (task: RowsTask, admit: Admission): RowJudge =>
  new RowJudge(readerOfTask(task), task.spec, { admit, elsewhere: task.place.elsewhere });

/**
 * Reads a data set into memory. Throws HONE_ERR_DATA if a file is missing or damaged, or no row is left.
 * @param validates holds out all rows, unless the set selects some
 */
export async function openDataset(
  given: DatasetSpec,
  options: SourceOptions,
  admit?: Admission,
  validates = false,
): Promise<ProblemSource> {
  const spec = await loadMap(given);
  const { domain, needsReference, keepsColumns, elsewhere, openThreads } = options;
  const task = { spec, place: { domain, needsReference, keepsColumns, elsewhere } } as RowsTask;
  const reader = readerOfTask(task);
  const all = validates && spec.heldOut === undefined;
  return DatasetSource.load(spec.kind, all ? { ...reader, benchmark: true } : reader, spec, options, {
    admit,
    // a map is a function of this thread and cannot be sent to others
    ...(openThreads && spec.map === undefined && { openThreads: () => openThreads(task) }),
  });
}

/**
 * Reads a data set into memory with all rows held out, for evaluation. `reader` reads the rows of a set whose
 * kind is not a known one.
 */
export function openBenchmark(
  spec: DatasetSpec | { readonly kind: string; readonly reader: RowReader<DatasetOptions> },
  options: DatasetOptions,
  admit?: Admission,
): Promise<DatasetSource> {
  const reader = "reader" in spec ? spec.reader : readerOf(spec);
  const whole = { ...options, ...("reader" in spec ? {} : spec) };
  const all = { ...whole, heldOut: undefined };
  return DatasetSource.load(
    spec.kind,
    { ...reader, benchmark: true },
    all,
    { seed: 0, ordinal: 0 },
    { admit },
  );
}

/** True for a data set whose rows are all held out. */
export function isBenchmark(source: string | DatasetSpec): boolean {
  const spec = typeof source === "string" ? parseDatasetSpec(source) : source;
  const known: unknown = spec && DATASETS[spec.kind];
  return typeof known === "object" && known !== null && "benchmark" in known && known.benchmark === true;
}

/**
 * Yields the used rows of a data set one by one and counts the others by outcome; keeps none in memory. The
 * map must be loaded.
 */
export function filterDataset(spec: DatasetSpec, admit?: Admission): RowFilter {
  return new RowFilter(spec.kind, readerOf(spec), spec, admit ? { admit } : {});
}
