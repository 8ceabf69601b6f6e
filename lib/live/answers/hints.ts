import { type Hint, hints as hintsOf, type SampleIndex, sampleOf } from "../../samples/index.ts";
import { type Question, runOf } from "../question.ts";
import { samplesOf, shownText } from "../run-samples.ts";
import type { ShownHint } from "../wire.ts";

/** Examining a million completions takes seconds of the thread that may be running the pipeline: not repeated every step. */
const FRESH_MS = 30_000;

interface Looked {
  readonly version: number;
  readonly atMs: number;
  readonly hints: Promise<Hint[]>;
}
const looked = new WeakMap<SampleIndex, Looked>();

/** Hints of reward hacking, with samples as evidence; null while the run has no completions. */
export async function hints(question: Question): Promise<ShownHint[] | null> {
  const index = await samplesOf(runOf(question));
  if (index === undefined) return null;
  let known = looked.get(index);
  if (known === undefined || (known.version !== index.version && Date.now() - known.atMs > FRESH_MS)) {
    known = { version: index.version, atMs: Date.now(), hints: hintsOf(index) };
    looked.set(index, known);
  }
  return (await known.hints).map(({ rows, quotes = {}, ...hint }) => ({
    ...hint,
    says: shownText(hint.says),
    quotes: Object.entries(quotes).map(([name, text]) => [name, shownText(text)] as const),
    samples: rows.map((row) => sampleOf(index, row)),
  }));
}
