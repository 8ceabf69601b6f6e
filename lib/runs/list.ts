import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { RUN_FILES } from "../metrics/index.ts";
import { type RunFacts, readRun } from "./read-run.ts";
import { differingFields, fieldsOf } from "./recipe-fields.ts";

/** A sweep's runs are at <sweep>/<cell>/<seed>. */
const DEEPEST = 4;

export interface UnreadableRun {
  readonly dir: string;
  readonly error: string;
}

export interface RunRow extends RunFacts {
  /** Recipe fields that differ among the listed runs, as JSON; absent if this run lacks the field. */
  readonly differs: Readonly<Record<string, string>>;
}

export interface RunList {
  /** The last started run first. */
  readonly runs: readonly RunRow[];
  readonly unreadable: readonly UnreadableRun[];
}

/** Folders of runs at or under `dir`, links not followed. Throws HONE_ERR_IO where `dir` cannot be read. */
export function runFolders(dir: string): string[] {
  if (!existsSync(dir))
    throw new HoneError("HONE_ERR_IO", `${dir}: no such folder`, { details: { path: dir } });
  const found: string[] = [];
  const visit = (folder: string, depth: number): void => {
    if (existsSync(join(folder, RUN_FILES.manifest))) return void found.push(folder);
    if (depth === DEEPEST) return;
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && entry.name !== "node_modules" && !entry.name.startsWith("."))
        visit(join(folder, entry.name), depth + 1);
  };
  visit(dir, 0);
  return found;
}

/** Every run at or under `dir`, and how their recipes differ. Throws HONE_ERR_IO if `dir` cannot be read. */
export async function listRuns(dir: string): Promise<RunList> {
  const runs: RunFacts[] = [];
  const unreadable: UnreadableRun[] = [];
  for (const folder of runFolders(dir)) {
    try {
      runs.push(await readRun(folder));
    } catch (error) {
      unreadable.push({ dir: folder, error: (error as Error).message });
    }
  }
  runs.sort((a, b) => b.startedAt.localeCompare(a.startedAt) || a.dir.localeCompare(b.dir));
  const recipes = runs.map(({ recipe }) => fieldsOf(recipe));
  const paths = differingFields(recipes);
  const rows = runs.map((run, i) => {
    const own = paths.flatMap((path) =>
      recipes[i]!.has(path) ? [[path, recipes[i]!.get(path)!] as const] : [],
    );
    return { ...run, differs: Object.fromEntries(own) };
  });
  return { runs: rows, unreadable };
}
