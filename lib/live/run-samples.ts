import { existsSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILES } from "../metrics/index.ts";
import {
  type Sample,
  type SampleGroup,
  SampleIndex,
  type SpokenPart,
  type WholeSample,
} from "../samples/index.ts";
import { visibleText } from "../shared/text/visible-text.ts";
import type { WatchedRun } from "./watched-run.ts";
import type { ShownSample } from "./wire.ts";

const SAVE_MS = 60_000;
/** Characters of a text sent to the page, half from its beginning and half from its end. */
const SHOWN_CHARS = 100_000;

interface Kept {
  readonly index: Promise<SampleIndex>;
  savedMs: number;
}
const kept = new WeakMap<WatchedRun, Kept>();

/** The completions of a run so far; undefined while it has none with a verdict. Throws HONE_ERR_FORMAT. */
export async function samplesOf(run: WatchedRun): Promise<SampleIndex | undefined> {
  if (!existsSync(join(run.dir, RUN_FILES.verdicts))) return undefined;
  let known = kept.get(run);
  if (known === undefined) {
    known = { index: SampleIndex.open(run.dir), savedMs: Date.now() };
    kept.set(run, known);
    known.index.catch(() => kept.delete(run));
  }
  const index = await known.index;
  await index.update();
  if (Date.now() - known.savedMs > SAVE_MS) {
    known.savedMs = Date.now();
    index.save();
  }
  return index;
}

/** For the page: texts without control characters; keeps only both ends of those with more than `most` characters. */
export function shownSample(one: WholeSample, most = SHOWN_CHARS): ShownSample {
  const {
    prompt,
    text: _,
    thought,
    response,
    turns,
    reference,
    reason,
    verifier,
    completion,
    ...facts
  } = one;
  const asText = typeof reference === "string" ? reference : (JSON.stringify(reference) ?? "");
  return {
    ...facts,
    completion,
    verifier,
    ...(prompt !== undefined && { prompt: shownText(prompt, most) }),
    ...(thought !== undefined && { thought: shownText(thought, most) }),
    response: shownText(response, most),
    ...(turns && { turns: shownTurns(turns, most) }),
    reference: shownText(asText, most),
    ...(reason !== undefined && { reason: shownText(reason, most) }),
  };
}

/** For the page: the beginning of the question, without control characters. */
export const shownGroup = ({ begins, ...group }: SampleGroup): SampleGroup => ({
  ...group,
  ...(begins !== undefined && { begins: visibleText(begins) }),
});

const MOST_PARTS = 200;

/**
 * The first and last parts of a long conversation, each with its share of the characters; between them the number of
 * omitted parts.
 */
function shownTurns(turns: readonly SpokenPart[], most: number): SpokenPart[] {
  const shorten = (part: SpokenPart) => ({ ...part, text: shownText(part.text, each) });
  const each = Math.max(1000, Math.floor(most / Math.min(turns.length, MOST_PARTS)));
  if (turns.length <= MOST_PARTS) return turns.map(shorten);
  const half = MOST_PARTS / 2;
  const gap = { by: "nobody", text: `${turns.length - MOST_PARTS} parts are not shown` } as const;
  return [...turns.slice(0, half).map(shorten), gap, ...turns.slice(-half).map(shorten)];
}

export function shownText(text: string, most = SHOWN_CHARS): string {
  if (text.length <= most) return visibleText(text);
  const end = Math.floor(most / 2);
  const left = text.length - 2 * end;
  return visibleText(`${text.slice(0, end)}\n[... ${left} characters ...]\n${text.slice(-end)}`);
}

/** One line of the response after its thought; for an episode all turns, with the observations in brackets. */
export function excerptOf({ response, thought, turns }: WholeSample, chars: number): string {
  const text =
    turns !== undefined
      ? turns.map(({ by, text }) => (by === "policy" ? text : `[${text.trim()}]`)).join(" ")
      : response.trim() === "" && thought !== undefined
        ? `(thinks) ${thought}`
        : response;
  const line = text
    .slice(0, 4 * chars)
    .replace(/\s+/g, " ")
    .trim();
  return visibleText(line.slice(0, chars)).trim();
}

/** True if a completion is short enough for an excerpt, which requires reading its whole line. */
export const isReadable = ({ chars }: Sample): boolean => chars < 1e6;
