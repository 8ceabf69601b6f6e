import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileWork } from "../metrics/index.ts";
import { lockFolder } from "../shared/files/folder-lock.ts";
import { AnswerCache } from "./answer-cache.ts";
import { tracesFigures } from "./figures.ts";
import { type Grade, gradeReader, readHand } from "./hand.ts";
import { HEURISTIC_MEASURED, RULES } from "./heuristic.ts";
import { measureTraces, type TraceMeasures } from "./measure.ts";
import { ModelReader, type ModelReaderOptions, READER_DEFAULTS } from "./model-reader.ts";
import { publishTraces } from "./publish.ts";
import { type ReadOptions, readSides } from "./read-folder.ts";
import { readSide } from "./read-traces.ts";
import { type CaptionedTable, gradeTables, tracesTables } from "./tables.ts";
import type { Reader, ReadSide } from "./trace.ts";

/** The labeller of the traces' steps, and the path of the page. */
export interface LookOptions extends ReadOptions {
  /** Labelling model. Default: the heuristic. */
  readonly model?: Omit<ModelReaderOptions, "cache"> | undefined;
  /** Output folder of the page. Default: traces/ in the last of the given folders. */
  readonly out?: string | undefined;
  readonly onProgress?: ((read: number, total: number) => void) | undefined;
}

/** Analysis of a folder's traces: measures, tables and a page. */
export interface Look {
  /** A model's name at its server, or "heuristic". */
  readonly reader: string;
  readonly notes: readonly string[];
  readonly measures: TraceMeasures;
  readonly tables: readonly CaptionedTable[];
  readonly page: string;
  /** True if every trace was read and every step has a category. */
  readonly whole: boolean;
}

/** File with the answers of a labelling model, in the folder that was analysed. */
const CACHE = join("traces", "answers.jsonl");
const OUT = "traces";

/**
 * Analyses the traces of one evaluation, of two (before, after), or at both ends of a run, and writes a page. Caches
 * a model's answers in each folder: the same command only sends missing requests. Throws errors of reading,
 * HONE_ERR_USAGE if another process analyses a folder, HONE_ERR_ENDPOINT.
 */
export async function lookAtTraces(folders: readonly string[], options: LookOptions): Promise<Look> {
  const sides = await readSides(folders, options);
  const total = sides.reduce((sum, { traces }) => sum + traces.length, 0);
  let read = 0;
  const each = () => options.onProgress?.(++read, total);
  const found: ReadSide[] = [];
  for (const [i, side] of sides.entries()) {
    const folder = folders[i] ?? folders[0]!;
    const width = options.model?.concurrency ?? READER_DEFAULTS.concurrency;
    found.push(await withReader(folder, options.model, (reader) => readSide(side, reader, { width, each })));
  }
  const measures = measureTraces(found);
  const reader = options.model?.model ?? RULES.name;
  const notes = notesOf(reader, measures, options.model !== undefined);
  const tables = tracesTables(measures);
  const content = { notes, tables, figures: tracesFigures(measures), sides: found };
  const dir = options.out ?? join(folders.at(-1)!, OUT);
  const page = publishTraces(dir, content, { reader, ...measures });
  return { reader, notes, measures, tables, page, whole: isWhole(measures) };
}

const isWhole = ({ sides }: TraceMeasures): boolean =>
  sides.every(
    ({ unclassified, unsplit, outages }) =>
      unclassified === 0 && unsplit === 0 && Object.keys(outages).length === 0,
  );

async function withReader<T>(
  folder: string,
  model: LookOptions["model"],
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  if (model === undefined) return work(RULES);
  const path = join(folder, CACHE);
  const dir = join(folder, OUT);
  fileWork(dir, () => mkdirSync(dir, { recursive: true }));
  using _ = await lockFolder(dir, "a look at its traces");
  using cache = new AnswerCache(path);
  using reader = new ModelReader({ ...model, cache });
  return await work(reader);
}

/** Caveats for readers of the numbers. */
function notesOf(reader: string, { unit, sides }: TraceMeasures, isModel: boolean): string[] {
  const { traces, steps, accuracy, kappa } = HEURISTIC_MEASURED;
  const who = isModel
    ? `Steps found and labelled by ${reader} over an OpenAI-compatible server, each step in two passes that tell the categories in opposite orders; the first pass counts.`
    : `Labelled by a heuristic, no model: steps by paragraph and marks of discourse, categories by words, "non-productive" by n-grams said before. On ${steps} steps of ${traces} hand-labelled traces that no rule was fitted to, it names ${(100 * accuracy).toFixed(1)} % rightly (κ ${kappa}); on traces of other styles it may do worse.`;
  const lost = sides.filter(({ outages, unsplit }) => unsplit > 0 || Object.keys(outages).length > 0);
  return [
    who,
    unit === "tokens"
      ? "Tokens are the evaluation's own counts; within a trace they are distributed over its steps by characters."
      : "Lengths are characters: a run's journal has no counts of tokens.",
    ...(lost.length > 0
      ? ["Some traces could not be read and are not counted. Repeat the command to ask for them again."]
      : []),
  ];
}

export interface Graded {
  readonly reader: string;
  readonly grades: readonly Grade[];
  readonly tables: readonly CaptionedTable[];
  readonly whole: boolean;
}

/** Evaluates a labeller against a file of traces labelled by hand. Caches a model's answers in `<file>.answers.jsonl`. */
export async function gradeOnHand(path: string, { model }: Pick<LookOptions, "model">): Promise<Graded> {
  const traces = await readHand(path);
  const width = model?.concurrency ?? READER_DEFAULTS.concurrency;
  const grades = await gradeWith(path, model, (reader) => gradeReader(reader, traces, width));
  const whole = grades.every(({ steps, labelled, outages }) => steps === labelled && outages === 0);
  return { reader: model?.model ?? RULES.name, grades, tables: gradeTables(grades), whole };
}

async function gradeWith<T>(
  path: string,
  model: LookOptions["model"],
  work: (reader: Reader) => Promise<T>,
): Promise<T> {
  if (model === undefined) return work(RULES);
  using cache = new AnswerCache(`${path}.answers.jsonl`);
  using reader = new ModelReader({ ...model, cache });
  return await work(reader);
}
