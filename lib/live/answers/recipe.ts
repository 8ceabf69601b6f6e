import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES, readRunManifest } from "../../metrics/index.ts";
import { type Question, runOf } from "../question.ts";

/** run.json: the resolved recipe, seeds, versions, the command; null if it does not exist. Throws HONE_ERR_FORMAT. */
export function recipe(question: Question): unknown {
  const { dir } = runOf(question);
  return existsSync(join(dir, RUN_FILES.manifest)) ? readRunManifest(dir) : null;
}
