import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES, readJson } from "../../metrics/index.ts";
import { honestyNotes, type RunSummary } from "../../report/index.ts";
import { type Question, runOf } from "../question.ts";

/** summary.json of a run, and notes on how to read its tables; null while there is none. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export function summary(question: Question): unknown {
  const path = join(runOf(question).dir, RUN_FILES.summary);
  if (!existsSync(path)) return null;
  const summary = readJson(path) as RunSummary;
  return { ...summary, notes: (summary.before?.length ?? 0) > 0 ? honestyNotes(summary) : [] };
}
