import { existsSync } from "node:fs";
import { join } from "node:path";
import { HoneError } from "../../errors.ts";
import { RUN_FILES } from "../../metrics/index.ts";
import { compareRuns } from "../../runs/index.ts";
import type { Question } from "../question.ts";
import type { ComparisonAnswer } from "../wire.ts";

/** Fields of the recipes that are sent; recipes of two kinds differ in hundreds. */
const MOST_FIELDS = 60;

/**
 * Compares runs with the first of them: `run` may be repeated. Null for fewer than two, or if one has no run.json
 * yet. Throws HONE_ERR_USAGE, HONE_ERR_FORMAT.
 */
export async function comparison({ query, watch }: Question): Promise<ComparisonAnswer | null> {
  const asked = [...new Set(query.getAll("run"))];
  const runs = asked.map((run) => {
    const found = watch.runs[Number(run)];
    if (found !== undefined) return found;
    throw new HoneError(
      "HONE_ERR_USAGE",
      `run=${run}: the page has ${watch.runs.length} runs, numbered from 0`,
    );
  });
  if (runs.length < 2 || !runs.every(({ dir }) => existsSync(join(dir, RUN_FILES.manifest)))) return null;
  const { recipe, ...compared } = await compareRuns(runs.map(({ dir }) => dir));
  return { ...compared, recipe: recipe.slice(0, MOST_FIELDS), fields: recipe.length };
}
