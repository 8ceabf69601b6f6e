import { dataFiles, readRows } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import { DATASETS, type DatasetKind, type DatasetSpec, readerOf } from "./datasets.ts";

/** GSM8K's rows are also rows of one's own, which one may train on. */
const OWN: ReadonlySet<DatasetKind> = new Set(["jsonl", "gsm8k"]);
/** Rows that are looked at. */
const LOOKED_AT = 20;

/**
 * The kind of the data at a path, determined by its first rows: the published kind that reads most of them, else the
 * user's own rows (`jsonl`). Throws HONE_ERR_DATA when the data cannot be read, HONE_ERR_USAGE when its rows are of
 * no kind.
 * @param verifier judges the user's own rows; default `math`.
 */
export async function tellKind(path: string, verifier = "math"): Promise<DatasetSpec> {
  const own: DatasetSpec = { kind: "jsonl", path, verifier };
  const published = (Object.keys(DATASETS) as DatasetKind[]).filter((kind) => !OWN.has(kind));
  const specs = [...published.map((kind) => ({ kind, path }) as DatasetSpec), own];
  const read = specs.map((spec) => ({ spec, read: readerOf(spec).open(spec), rows: 0 }));
  let looked = 0;
  for await (const raw of readRows(dataFiles(path)[0]!)) {
    if (!("fault" in raw)) {
      for (const one of read) if (reads(one.read, raw)) one.rows += 1;
    }
    looked += 1;
    if (looked === LOOKED_AT) break;
  }
  const [best] = [...read].sort((a, b) => b.rows - a.rows);
  if (best !== undefined && best.rows > 0) return best.spec;
  throw new HoneError("HONE_ERR_USAGE", `${path}: none of the first ${looked} rows is of a known kind`, {
    hint: `Say which with --kind: ${Object.keys(DATASETS).join(", ")}; rows of your own need question and answer.`,
  });
}

function reads(
  read: ReturnType<ReturnType<typeof readerOf>["open"]>,
  raw: Parameters<typeof read>[0],
): boolean {
  try {
    return !("bad" in read(raw));
  } catch {
    return false;
  }
}
