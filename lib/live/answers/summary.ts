import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES, readJson } from "../../metrics/index.ts";
import { headlineSetting, honestyNotes, type RunSummary, runChange } from "../../report/index.ts";
import { type Question, runOf } from "../question.ts";
import type { ShownSummary } from "../wire.ts";

/**
 * summary.json of a run, with notes on how to read its tables and on the effect of training; null if it does not
 * exist. Throws HONE_ERR_IO, HONE_ERR_FORMAT.
 */
export function summary(question: Question): ShownSummary | null {
  const path = join(runOf(question).dir, RUN_FILES.summary);
  if (!existsSync(path)) return null;
  const summary = readJson(path) as RunSummary;
  const hasScores = (summary.before?.length ?? 0) > 0;
  const change = hasScores ? runChange(summary) : undefined;
  return {
    ...summary,
    notes: hasScores ? honestyNotes(summary) : [],
    ...(change && { headline: { setting: headlineSetting(summary.before), change } }),
  };
}
