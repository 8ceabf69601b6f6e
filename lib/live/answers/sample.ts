import { HoneError } from "../../errors.ts";
import { wholeSample } from "../../samples/index.ts";
import { type Question, runOf } from "../question.ts";
import { samplesOf, shownSample } from "../run-samples.ts";
import type { ShownSample } from "../wire.ts";
import { natural } from "./samples.ts";

/** One completion with its texts, by its row in the answer of `samples`. Throws HONE_ERR_USAGE, HONE_ERR_FORMAT. */
export async function sample(question: Question): Promise<ShownSample | null> {
  const index = await samplesOf(runOf(question));
  if (index === undefined) return null;
  const row = natural(question.query, "row") ?? 0;
  if (row < index.tables.members.rows) return shownSample(await wholeSample(index, row));
  throw new HoneError(
    "HONE_ERR_USAGE",
    `row=${row}: the run has ${index.tables.members.rows} samples, numbered from 0`,
  );
}
