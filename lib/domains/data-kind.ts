import { type DataFile, dataFiles, readRows } from "../data/index.ts";
import type { RowMap } from "../data/row-map.ts";
import type { DatasetOptions, RowReader } from "../data/row-reader.ts";
import { HoneError } from "../errors.ts";
import { DATASETS, type DatasetKind, type DatasetSpec, loadMap, ofDomain, readerOf } from "./datasets.ts";
import { kindHint, mapExample, recordedExample } from "./kind-hint.ts";
import { mapHint } from "./row-maps.ts";

/** Ends the message for rows that a map makes readable; the hint has the map. */
export const NEEDS_MAP = "its rows need a map";
/** Begins the last part of the hint for rows of no known kind, after the advice about the first row. */
export const NAME_THE_KIND = "Name the kind: ";

/**
 * Kinds of a user's own rows. GSM8K's rows have the same form, so they are read as the user's own, which may
 * be trained on.
 */
const OWN: ReadonlySet<DatasetKind> = new Set(["jsonl", "gsm8k"]);
/** Verifiers that may judge verl's rows, the likelier first. */
const VERL = ["math", "code"] as const;
/** Number of a file's first rows that are read to detect its kind. */
const LOOKED_AT = 20;

/** Kinds whose rows have no distinctive form: they are recognised by a name in the path or in a field beside the problem. */
const NAMED: ReadonlyMap<DatasetKind, RegExp> = new Map([["aime", /aime/i]]);
const BESIDE = new Set(["problem", "question", "solution", "answer"]);

/**
 * Detects the kind of the data at a path from the first rows of the first file that has rows of any kind: the
 * published kind that reads most of them, else the user's own rows (`jsonl`). Throws HONE_ERR_DATA if the data cannot
 * be read, HONE_ERR_USAGE if its rows are of no kind.
 * @param verifier judges rows that name none; default: `math` for the user's own, for verl's the verifier that
 * accepts most of the first rows
 * @param map produces the rows to read
 */
export async function tellKind(
  path: string | readonly string[],
  verifier?: string,
  map?: RowMap,
): Promise<DatasetSpec> {
  const specs = specsOf(path, verifier).map((spec) => (map === undefined ? spec : { ...spec, map }));
  const { read, looked, first } = await tried(path, specs);
  const [best] = read;
  const needed = best!.kept === 0 && map === undefined ? mapHint(first) : undefined;
  if (best!.rows > 0 && needed === undefined) return best!.spec;
  const where = [path].flat()[0]!;
  if (looked === 0) throw new HoneError("HONE_ERR_USAGE", `${where}: no rows`);
  const faultOf = (kind: DatasetKind) => {
    const one = read.find(({ spec }) => spec.kind === kind);
    return one === undefined ? `${VERL.join(" or ")} judges it, not ${verifier}` : one.fault;
  };
  if (needed !== undefined) throw new HoneError("HONE_ERR_USAGE", `${where}: ${NEEDS_MAP}`, { hint: needed });
  throw new HoneError("HONE_ERR_USAGE", `${where}: none of the ${looked} rows looked at is of a known kind`, {
    hint: `${kindHint(first, faultOf)}${map === undefined ? adviceFor(faultOf("jsonl"), where, first) : ""}${NAME_THE_KIND}source: "<kind>:${where}" in a recipe, --kind <kind> of hone data check, one of ${Object.keys(DATASETS).join(", ")}. Rows of your own need question and answer (${faultOf("jsonl")}).`,
  });
}

/** How the user's own rows can be read in spite of this fault: a sentence that ends in a space, or empty. */
function adviceFor(fault: string | undefined, path: string, row: unknown): string {
  if (fault === undefined) return "";
  if (/neither question|both contain the question/.test(fault)) return mapExample(path, row);
  const recorded = /neither reference/.test(fault) ? recordedExample(path, row) : "";
  if (recorded !== "") return recorded;
  const hasNoText = /neither reference|^(?:final_)?answer: invalid|^solution: invalid/.test(fault);
  return hasNoText
    ? "Rows without an answer in words need a reward in the recipe (docs/how-to/rewards.md). "
    : "";
}

/** The use of a data set in a recipe. */
export interface KindUse {
  readonly domain: string;
  /** True for a validation set, whose rows may be of any domain and of a benchmark. */
  readonly validates?: boolean;
  readonly needsReference?: boolean;
  readonly map?: DatasetOptions["map"];
}

/**
 * Detects the kind of the data at paths as the source of a domain: the published kind of that domain that reads most
 * of the first rows, else the user's own rows, even if those cannot be used.
 */
export async function kindFor(path: string | readonly string[], use: KindUse): Promise<DatasetSpec> {
  const { domain, validates = false, map } = use;
  const given = await loadMap({ kind: "jsonl", path, ...(map && { map }) });
  const specs = specsOf(path, domain).flatMap((spec) => {
    if (spec.kind === "jsonl") return [ofDomain({ ...given, path }, domain, use.needsReference)];
    const reader = DATASETS[spec.kind] as RowReader<DatasetOptions>;
    const isForAny = typeof DATASETS[spec.kind] === "function";
    const isWanted = validates || isForAny || (reader.domain === domain && reader.benchmark !== true);
    return isWanted ? [{ ...given, ...spec }] : [];
  });
  const { read } = await tried(path, specs);
  const best = read[0]!.rows > 0 ? read[0]!.spec : specs.at(-1)!;
  return map === undefined ? best : { ...best, map };
}

/** Finds the verifier for data of a known kind that does not determine one. */
export async function tellVerifier(spec: DatasetSpec, verifier?: string): Promise<DatasetSpec> {
  if (spec.kind === "jsonl") return { ...spec, verifier: verifier ?? "math" };
  if (spec.kind !== "verl") return spec;
  if (verifier !== undefined) return { ...spec, verifier };
  const { read } = await tried(
    spec.path,
    VERL.map((judge) => ({ ...spec, verifier: judge })),
  );
  return read[0]!.spec;
}

/** Reads the first rows of the first non-empty file by each of `specs`; sorts the specs by the number of rows they read. */
async function tried(
  path: string | readonly string[],
  specs: readonly DatasetSpec[],
): Promise<{ readonly read: readonly Candidate[]; readonly looked: number; readonly first: unknown }> {
  const read = specs.map((spec): Candidate => ({ spec, read: readerOf(spec).open(spec), rows: 0, kept: 0 }));
  let looked = 0;
  let first: unknown;
  for (const file of dataFiles(path)) {
    const seen = await lookInto(file, read);
    looked += seen.looked;
    first ??= seen.first;
    if (read.some(({ rows }) => rows > 0)) break;
  }
  return { read: read.sort(byRows), looked, first };
}

/**
 * Sorts by the number of rows read; of equal kinds, one that uses some rows comes first, then a published
 * one, then the one that uses more.
 */
function byRows(a: Candidate, b: Candidate): number {
  const isUsed = ({ kept }: Candidate) => Number(kept > 0);
  const isOwn = ({ spec }: Candidate) => Number(OWN.has(spec.kind));
  return b.rows - a.rows || isUsed(b) - isUsed(a) || isOwn(a) - isOwn(b) || b.kept - a.kept;
}

/** Kinds that the data may have, the user's own rows last. */
function specsOf(path: string | readonly string[], verifier: string | undefined): DatasetSpec[] {
  const judges = VERL.filter((name) => verifier === undefined || verifier === name);
  const published = (Object.keys(DATASETS) as DatasetKind[]).filter((kind) => !OWN.has(kind));
  return [
    ...published.flatMap((kind): DatasetSpec[] =>
      kind === "verl" ? judges.map((judge) => ({ kind, path, verifier: judge })) : [{ kind, path }],
    ),
    { kind: "jsonl", path, verifier: verifier ?? "math" },
  ];
}

interface Candidate {
  readonly spec: DatasetSpec;
  readonly read: ReturnType<ReturnType<typeof readerOf>["open"]>;
  /** Number of rows that this kind can read, and number of rows that become problems. */
  rows: number;
  kept: number;
  /** Why the first refused row is not of this kind. */
  fault?: string;
}

/**
 * Counts, for every kind, how many of a file's first rows it can read. @returns the number of rows, and the
 * first row
 */
async function lookInto(
  file: DataFile,
  kinds: readonly Candidate[],
): Promise<{ readonly looked: number; readonly first: unknown }> {
  let looked = 0;
  let first: unknown;
  for await (const raw of readRows(file)) {
    if ("value" in raw) first ??= raw.value;
    for (const one of kinds) {
      if ("fault" in raw) one.fault ??= raw.fault;
      else count(one, raw);
    }
    looked += 1;
    if (looked === LOOKED_AT) break;
  }
  return { looked, first };
}

/** True if a row may be of a kind, judged by names alone. */
function isNamed({ kind, path }: DatasetSpec, value: unknown): boolean {
  const name = NAMED.get(kind);
  if (name === undefined || [path].flat().some((one) => name.test(one))) return true;
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return fields.some(([field, text]) => !BESIDE.has(field) && name.test(String(text)));
}

function count(kind: Candidate, raw: Parameters<Candidate["read"]>[0]): void {
  if (!isNamed(kind.spec, raw.value)) return;
  try {
    const outcome = kind.read(raw);
    // verl's rows must be read as kind verl, which determines their verifier
    const isOfVerl = "answerFrom" in outcome && outcome.answerFrom?.startsWith("reward_model.");
    if (kind.spec.kind === "jsonl" && isOfVerl) kind.fault ??= "rows of verl's";
    else if ("bad" in outcome) kind.fault ??= outcome.bad;
    else kind.rows += 1;
    if ("question" in outcome && !isOfVerl) kind.kept += 1;
  } catch (error) {
    kind.fault ??= (error as Error).message;
    // Error of a row that is of this kind but needs a file that is missing; reading the data reports it later.
    const isMissing = HoneError.is(error) && error.code === "HONE_ERR_CONFIG";
    if (isMissing) [kind.rows, kind.kept] = [kind.rows + 1, kind.kept + 1];
  }
}
