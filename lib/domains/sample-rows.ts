import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DATASETS, type DatasetKind } from "./datasets.ts";

/**
 * Writes a few rows of a training set into a folder of its own below `folder`, to try its reader, prompts and
 * verifier if the set itself is missing. Returns that folder; undefined for a kind without sample rows (the
 * benchmarks).
 */
export async function writeSampleRows(kind: DatasetKind, folder: string): Promise<string | undefined> {
  const reader = DATASETS[kind];
  if (!("samples" in reader) || reader.samples === undefined) return undefined;
  const { file, rows } = reader.samples;
  const path = join(folder, kind, file);
  mkdirSync(dirname(path), { recursive: true });
  const lines = (await rows()).map((row) => JSON.stringify(row));
  writeFileSync(path, lines.join("\n"));
  return dirname(path);
}
