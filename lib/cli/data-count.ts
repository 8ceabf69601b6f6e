import { existsSync } from "node:fs";
import type { Recipe } from "../config/index.ts";
import type { Admission, DatasetReport, Tally } from "../data/index.ts";
import {
  type DatasetSpec,
  filterDataset,
  loadBuiltIn,
  loadMap,
  needsReference,
  readerOf,
  referenceFault,
  VERIFIERS,
} from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import { resolveModelFolder } from "../inference/index.ts";
import { admissionOf, localSpec, openModel } from "../orchestration/index.ts";

/** Number of rows that a filter removed, and number that remained. */
export interface FilterCount {
  readonly filter: string;
  readonly rows: number;
  readonly left: number;
}

interface Source {
  readonly name: string;
  readonly kind: string;
  /** Numbers of rows that the Apriel-Reasoner paper gives for its data set of this kind. */
  readonly paper?: PaperRows | undefined;
}

export interface CountedSource extends Source {
  /** Number of data files that were read, and of rows in them. */
  readonly files: number;
  readonly rows: number;
  readonly filters: readonly FilterCount[];
  /** Rows that pass all filters: in all, held out, and for training. */
  readonly usable: number;
  readonly heldOut: number;
  readonly training: number;
}

export interface UncountedSource extends Source {
  /** Reason why the rows could not be counted. */
  readonly missing: string;
}

export type SourceCount = CountedSource | UncountedSource;

export const isCounted = (source: SourceCount): source is CountedSource => !("missing" in source);

/** A row of table 1 in the Apriel-Reasoner paper. */
export interface PaperRows {
  readonly rows: number;
  readonly says: string;
}

/** Source: Apriel-Reasoner, table 1, "Training data"; every number is rounded there. */
const PAPER_TABLE_1: Readonly<Record<string, PaperRows>> = {
  "open-reasoner-zero": { rows: 129_000, says: "Open-Reasoner-Zero (~129K)" },
  taco: { rows: 24_000, says: "TACO (~24K)" },
  "if-rlvr": { rows: 95_000, says: "IF-RLVR (~95K)" },
  "i3-logic": { rows: 12_000, says: "INTELLECT-3 / SynLogic (~12K)" },
  bfcl: { rows: 4_000, says: "BFCL v4 single-turn tasks (~4K)" },
};

/**
 * A filter for prompts as the recipe's own model encodes them, or why their lengths cannot be counted here.
 */
export type PromptFilter = { readonly admit: Admission } | { readonly unknown: string };

/** Reads the files of the recipe's model if they are on this machine; downloads nothing. */
export async function promptFilter(recipe: Recipe): Promise<PromptFilter> {
  const { folder: name } = recipe.model;
  try {
    const here = { offline: true, withWeights: false };
    const folder = name === undefined ? undefined : await resolveModelFolder(name, here);
    const model = folder === undefined ? recipe.model : { ...recipe.model, folder, config: undefined };
    return { admit: admissionOf(recipe, (await openModel({ ...recipe, model })).format) };
  } catch (error) {
    if (!HoneError.is(error)) throw error;
    return {
      unknown: `prompts over ${recipe.rollouts.maxPromptTokens} tokens are not counted: ${error.message}`,
    };
  }
}

/**
 * Reads a whole data set through the filters of a run and counts the rows that each filter removes. Reports the
 * counts of a set whose files are missing as unknown.
 * @param admit filter of the run; default: rejects rows whose reference the verifier cannot read
 * @throws HONE_ERR_DATA for a damaged file
 */
export async function countDataset(
  name: string,
  given: DatasetSpec,
  admit?: Admission,
): Promise<SourceCount> {
  const { kind } = given;
  const paper = PAPER_TABLE_1[kind];
  const { source: local } = await localSpec(given, [], { offline: true }).catch(() => ({ source: given }));
  const absent = [local.path].flat().filter((path) => !existsSync(path));
  if (absent.length > 0) {
    const verb = absent.length === 1 ? "is" : "are";
    return { name, kind, paper, missing: `needs the files: ${absent.join(", ")} ${verb} not here` };
  }
  const spec = await loadMap(local);
  const filter = filterDataset(spec, admit ?? (await referencesOf(spec)));
  for await (const _ of filter.rows());
  const report = filter.report();
  const { files, rows, heldOut, training } = report;
  const split = { usable: heldOut + training, heldOut, training };
  return { name, kind, paper, files, rows, filters: filtersOf(report), ...split };
}

/**
 * Rejects rows whose reference the verifier cannot read. Verifiers of the user's own are not asked: they live
 * in a run's workers.
 */
async function referencesOf(spec: DatasetSpec): Promise<Admission> {
  const { verifier: name } = readerOf(spec);
  const isJudged = needsReference(spec) && VERIFIERS.some((known) => known.name === name);
  const verifier = isJudged ? await loadBuiltIn(name) : undefined;
  return ({ reference }) => referenceFault(verifier, reference);
}

/** Filters in the order in which they see a row; filters that removed no row are omitted. */
function filtersOf({ rows, bad, leftOut, duplicates }: DatasetReport): FilterCount[] {
  const named = (what: string) => (tally: Tally) => ({ ...tally, filter: `${what}: ${tally.reason}` });
  const taken = [
    ...bad.map(named("bad")),
    ...leftOut.map(named("left out")),
    ...duplicates.map(named("duplicate")),
  ];
  let left = rows;
  return taken.map((tally) => {
    left -= tally.rows;
    return { filter: tally.filter, rows: tally.rows, left };
  });
}

const WIDTH = 56;

/**
 * One table per source: rows read, rows that each filter removed and kept, the split, and the Apriel-Reasoner
 * paper's number.
 */
export function dataCountText(counts: readonly SourceCount[], notes: readonly string[] = []): string {
  return [...counts.flatMap((count) => [...sourceLines(count), ""]), ...notes].join("\n").trimEnd();
}

function sourceLines(source: SourceCount): string[] {
  const { name, kind, paper } = source;
  if (!isCounted(source)) {
    const theirs = paper === undefined ? [] : [line("paper, table 1", paper.rows, paper.says)];
    return [`${name}: ${kind}`, `  ${source.missing}`, ...theirs];
  }
  const { files, rows, filters, usable, heldOut, training } = source;
  const theirs = paper && line("paper, table 1", paper.rows, comparison(usable, paper));
  return [
    `${name}: ${kind}, ${files} ${files === 1 ? "file" : "files"}`,
    line("rows read", rows),
    ...filters.map((f) => line(`- ${f.filter}`, -f.rows, `${f.left.toLocaleString("en")} left`)),
    line("= usable", usable),
    line("held out", heldOut),
    line("to train on", training),
    ...(theirs === undefined ? [] : [theirs]),
  ];
}

function comparison(usable: number, { rows, says }: PaperRows): string {
  return `${says}: usable here is ${((100 * usable) / rows).toFixed(1)} % of it`;
}

function line(label: string, rows: number, remark = ""): string {
  const shown = label.length > WIDTH ? `${label.slice(0, WIDTH - 1)}…` : label;
  return `  ${shown.padEnd(WIDTH)} ${rows.toLocaleString("en").padStart(9)}  ${remark}`.trimEnd();
}
