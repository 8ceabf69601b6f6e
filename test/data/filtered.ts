// Reads rows as a run would, from a file that the test writes or from a given file.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DatasetReport, KeptRow } from "../../lib/data/index.ts";
import type { Admission } from "../../lib/data/row-judge.ts";
import { type DatasetKind, type DatasetSpec, filterDataset } from "../../lib/domains/index.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-rows-"));
// Test files of one worker share this folder; the worker removes it at its exit.
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** A path for a file that the test writes, in a folder that is removed afterwards. */
export const scratch = (name: string): string => join(folder, name);

/** Writes rows as JSONL; writes strings as they are, for lines that are not JSON. */
export function writeRows(name: string, rows: readonly unknown[]): string {
  const path = scratch(name);
  writeFileSync(path, rows.map((row) => (typeof row === "string" ? row : JSON.stringify(row))).join("\n"));
  return path;
}

export interface Filtered {
  readonly kept: readonly KeptRow[];
  readonly heldOut: ReadonlySet<string>;
  readonly report: DatasetReport;
}

export async function filterRows(spec: DatasetSpec, admit?: Admission): Promise<Filtered> {
  const filter = filterDataset(spec, admit);
  const kept: KeptRow[] = [];
  for await (const row of filter.rows()) kept.push(row);
  return { kept, heldOut: filter.heldOut, report: filter.report() };
}

let files = 0;

/** Reads rows as a data set: the problems, and how many rows were dropped for which reason. */
export async function readAs(
  spec: { readonly kind: DatasetKind; readonly path?: string; readonly [option: string]: unknown },
  rows: readonly unknown[],
): Promise<{ kept: readonly KeptRow[]; bad: Record<string, number>; leftOut: Record<string, number> }> {
  files += 1;
  const path = spec.path ?? writeRows(`${files}.jsonl`, rows);
  const { kept, report } = await filterRows({ ...spec, path } as DatasetSpec);
  const count = (tallies: DatasetReport["bad"]) => Object.fromEntries(tallies.map((t) => [t.reason, t.rows]));
  return { kept, bad: count(report.bad), leftOut: count(report.leftOut) };
}

/** Finds a file of the reference data; undefined where that data is missing. */
export function sample(path: string): string | undefined {
  const file = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data", path);
  return existsSync(file) ? file : undefined;
}

export const fixture = (name: string): string => resolve(import.meta.dirname, "../fixtures/parquet", name);
