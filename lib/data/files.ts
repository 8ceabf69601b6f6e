import { readdirSync, statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { HoneError } from "../errors.ts";

/** A data file and its format, determined by its name. */
export interface DataFile {
  readonly path: string;
  readonly format: "json" | "jsonl" | "parquet" | "csv";
  readonly gzip: boolean;
  /** Packed with zstd. */
  readonly zstd?: true;
}

const NAME = /\.(?:(json|jsonl|ndjson|csv|tsv)(\.gz|\.zst)?|(parquet))$/i;
/** Files that Python's `datasets` writes beside the rows of a folder. */
const ABOUT_DATA = /^(?:dataset_infos?|dataset_dict|state)\.json$/;

/** True if a file name is that of a data file. */
export const isDataFile = (name: string): boolean => NAME.test(name);

/** True if a path looks like data: a folder, or a file name with a known format. */
export const isDataPath = (path: string): boolean =>
  NAME.test(path) || (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);

/**
 * Data files of a file, a folder (recursively, in order of name, without hidden ones) or a list of both.
 * @param split keeps the files of a folder whose name begins with it: "train" takes "train-00000-of-00009.parquet"
 * and "train.jsonl".
 * Throws HONE_ERR_DATA naming a path that does not exist or has no data file.
 */
export function dataFiles(paths: string | readonly string[], split?: string): DataFile[] {
  return [paths].flat().flatMap((path) => {
    const found = isFolder(path) ? filesBelow(path).filter((file) => isOfSplit(file, split)) : [path];
    const files = found.flatMap((file) => described(file) ?? []);
    if (files.length > 0) return files;
    throw new HoneError("HONE_ERR_DATA", `${path} holds no data file${split ? ` of split ${split}` : ""}`, {
      hint: found.some((file) => file.endsWith(".arrow")) ? ARROW : NAMES,
    });
  });
}

const NAMES =
  "Data files end in .json, .jsonl, .ndjson, .csv, .tsv (each also with .gz or .zst) or .parquet.";
const ARROW =
  'Files that end in .arrow are those of save_to_disk in Python; write the data set with to_parquet("rows.parquet") or to_json("rows.jsonl").';

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (cause) {
    const home = path.startsWith("~") ? " Only shells expand ~: write the whole path." : "";
    const hint = isAbsolute(path)
      ? {}
      : { hint: `Paths are relative to the working folder, ${process.cwd()}.${home}` };
    throw new HoneError("HONE_ERR_DATA", `there is no data at ${path}`, { cause, ...hint });
  }
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
  entries.sort((a, b) => (a.name < b.name ? -1 : 1)); // compared by code unit, so that the order is the same on every machine
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (isFolder(path)) return filesBelow(path);
    return ABOUT_DATA.test(entry.name) ? [] : [path];
  });
}

function isOfSplit(file: string, split: string | undefined): boolean {
  const name = basename(file);
  return split === undefined || (name.startsWith(split) && /^[-.]/.test(name.slice(split.length)));
}

const FORMATS: ReadonlyMap<string, DataFile["format"]> = new Map([
  ["json", "json"],
  ["csv", "csv"],
  ["tsv", "csv"],
]);

function described(path: string): DataFile | undefined {
  const found = NAME.exec(path);
  if (!found) return undefined;
  const [, text, packing] = found;
  if (text === undefined) return { path, format: "parquet", gzip: false };
  const name = text.toLowerCase();
  const format = FORMATS.get(name) ?? "jsonl";
  const packed = packing?.toLowerCase();
  return { path, format, gzip: packed === ".gz", ...(packed === ".zst" && { zstd: true }) };
}
