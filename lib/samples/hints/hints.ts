import { comparableAnswer } from "../answer.ts";
import { wholeSample } from "../sample.ts";
import type { SampleIndex } from "../sample-index.ts";
import { emptyThoughts } from "./empty-thoughts.ts";
import { goldRejected } from "./gold-rejected.ts";
import type { Hint } from "./hint.ts";
import { longerAndLonger } from "./longer-and-longer.ts";
import { oneAnswer } from "./one-answer.ts";

export type { Hint } from "./hint.ts";

/** Most hints of one kind: more would add nothing. */
const MOST_OF_A_KIND = 20;
const QUOTE_CHARS = 200;

/** Hints at reward hacking in a run, each with its evidence and samples that show it. */
export async function hints(index: SampleIndex): Promise<Hint[]> {
  const kinds = [goldRejected, longerAndLonger, oneAnswer, emptyThoughts];
  const found = kinds.flatMap((look) => look(index).slice(0, MOST_OF_A_KIND));
  return Promise.all(found.map((hint) => quoted(index, hint)));
}

/** Adds the answer in question and the data set's reference. */
async function quoted(index: SampleIndex, hint: Hint): Promise<Hint> {
  if (hint.kind !== "gold-rejected" && hint.kind !== "one-answer") return hint;
  const { text, reference } = await wholeSample(index, hint.rows[0]!);
  const answer = (comparableAnswer(text) ?? "").slice(0, QUOTE_CHARS);
  if (hint.kind === "one-answer") return { ...hint, quotes: { answer } };
  return { ...hint, quotes: { answer, reference: (JSON.stringify(reference) ?? "").slice(0, QUOTE_CHARS) } };
}
