import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES, readJson } from "../../metrics/index.ts";
import { type Question, runOf } from "../question.ts";

/** summary.json of a run; null while there is none. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export function summary(question: Question): unknown {
  const path = join(runOf(question).dir, RUN_FILES.summary);
  return existsSync(path) ? readJson(path) : null;
}
