import { z } from "zod";
import { readJson } from "../../../python/json.ts";
import { escapePattern, type Pattern, tryPattern } from "../../../python/pattern.ts";
import { isBlank, isSpace, trim, trimChars, trimEnd } from "../../../python/text.ts";
import type { PythonValue } from "../../../python/value.ts";
import { isWordless } from "../../blank.ts";
import { amount, noArguments, phrase } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import { splitSentences } from "../text/sentences.ts";
import { bareWords } from "../text/words.ts";
import { countParts, countWrittenParts } from "./length.ts";

const isWritten = (text: string): boolean => !isWordless(text);

/** Texts between two marks on one line, from the first `open` to the next `close`. */
function spansIn(text: string, open: string, close: string): string[] {
  const found: string[] = [];
  for (const line of text.split("\n")) {
    for (let start = line.indexOf(open); start >= 0; ) {
      const end = line.indexOf(close, start + open.length);
      if (end < 0) break;
      found.push(line.slice(start + open.length, end));
      start = line.indexOf(open, end + close.length);
    }
  }
  return found;
}

const placeholders = (text: string): string[] => spansIn(text, "[", "]");

/**
 * The text after `bullet` on lines that begin with it after optional white space. White space may span empty lines,
 * and `*` consumes the next character unless it is `*`: both as in the published expressions `^\s*\*[^\*].*$` and
 * `^\s*-.*$`.
 */
function bulletsOf(text: string, bullet: "*" | "-"): string[] {
  const bullets: string[] = [];
  for (let at = 0; at < text.length; ) {
    while (at < text.length && isSpace(text[at]!)) at += 1;
    const star = bullet === "*";
    const hit = text[at] === bullet && (!star || (at + 1 < text.length && text[at + 1] !== "*"));
    if (hit) bullets.push(text.slice(at + 1, lineEndFrom(text, at + 1)));
    const lineEnd = text.indexOf("\n", hit && star ? at + 2 : at);
    if (lineEnd < 0) break;
    at = lineEnd + 1;
  }
  return bullets;
}

function lineEndFrom(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

const bullets = (text: string): string[] => [...bulletsOf(text, "*"), ...bulletsOf(text, "-")];

/** Texts between single stars, and between pairs of stars. */
const highlights = (text: string): string[] =>
  [text.match(/\*[^\n*]*\*/g), text.match(/\*\*[^\n*]*\*\*/g)].flatMap((spans) =>
    (spans ?? []).map((span) => trimChars(span, "*")),
  );

/** True if a line contains `<<title>>` with a word in it. */
const hasTitle = (text: string): boolean => spansIn(text, "<<", ">>").some(isWritten);

/** True if a line contains `<<title>>`, read from its first `<<` to its last `>>`. */
function hasTitleAsReference(text: string): boolean {
  return text.split("\n").some((line) => {
    const open = line.indexOf("<<");
    const close = line.lastIndexOf(">>");
    return (
      open >= 0 &&
      close > open + 2 &&
      !isBlank(trimEnd(line.slice(open, close).replace(/^<+/, ""), (char) => char === ">"))
    );
  });
}

/** Fences that are removed from JSON, in this order, each once. */
const FENCES = ["```json", "```Json", "```JSON", "```"];
/** The value of a JSON text, fenced or not, as json.loads reads it; undefined for no JSON. */
function jsonIn(text: string): PythonValue | undefined {
  let body = trim(text);
  for (const fence of FENCES) if (body.startsWith(fence)) body = body.slice(fence.length);
  return readJson(body.endsWith("```") ? body.slice(0, -3) : body);
}

const MARKERS: ReadonlyMap<string, string> = new Map([
  ["P.P.S", "p\\.\\s?p\\.\\s?s"],
  ["P.S.", "p\\.\\s?s\\."],
]);

/**
 * @param asPattern builds the pattern for a marker other than the usual two
 * @param counts decides whether a text may follow the marker, up to the next one
 */
const hasPostscript =
  (asPattern: (marker: string) => string, counts: (text: string) => boolean) =>
  ({ postscript_marker }: { postscript_marker: string }): Check => {
    const marker = trim(postscript_marker);
    const source = MARKERS.get(marker) ?? asPattern(marker.toLowerCase());
    const pattern = tryPattern(source, { multiline: true });
    return ({ lower }) => pattern !== undefined && textsBehind(pattern, lower).some(counts);
  };

/** The text after each match, up to the next match. */
function textsBehind(pattern: Pattern, text: string): string[] {
  const spans = pattern.matches(text);
  return spans.map(([, end], i) => text.slice(end, spans[i + 1]?.[0]));
}

/**
 * @param asPattern builds the pattern for the word that begins a section
 * @param counts decides whether a text may be a section
 */
const hasSections =
  (asPattern: (splitter: string) => string, counts: (text: string) => boolean) =>
  ({ section_spliter, num_sections: least }: { section_spliter: string; num_sections: number }): Check => {
    const pattern = tryPattern(`\\s?${asPattern(trim(section_spliter))}\\s?\\d+\\s?`);
    return ({ raw }) => pattern !== undefined && textsBehind(pattern, raw).filter(counts).length >= least;
  };

const unescaped = (source: string): string => source;
const any = (): boolean => true;

const CHOICES = ["My answer is yes.", "My answer is no.", "My answer is maybe."];
const STATED = /\bmy\s+answer\s+(?:is|might be|may be|could be)\b([^.!?\n]*)/gi;
const NAMES_A_CHOICE = /\b(?:yes|no|not|maybe)\b/i;

/** True if exactly one of the three answers occurs, verbatim, and no other in any spelling. */
function choosesOne(text: string): boolean {
  const stated = [...text.matchAll(STATED)].map(([, rest]) => rest!.trim().toLowerCase());
  const named = new Set(stated.filter((rest) => NAMES_A_CHOICE.test(rest)));
  return (
    named.size === 1 && CHOICES.some((choice) => text.includes(choice) && named.has(choice.slice(13, -1)))
  );
}

/** True if only hyphens join the sentences. @param counts decides whether a text may be a sentence */
function joinsSentences(text: string, counts: (piece: string) => boolean): boolean {
  const sentences = splitSentences(text.replaceAll("-", " "));
  const pieces = text.split("-");
  return pieces.every(
    (piece, i) => i >= sentences.length || (piece === trim(piece) && piece === sentences[i] && counts(piece)),
  );
}

const TWO = "******";

/** Two different texts separated by a line of stars. @param asCompared normalises the texts for the comparison */
const twoResponses =
  (countOf: typeof countParts, asCompared: (text: string) => string): Check =>
  ({ raw }) => {
    const parts = raw.split(TWO);
    if (countOf(parts) !== 2) return false;
    const [first, second] = parts.filter((part) => !isBlank(part)).map(asCompared);
    return first !== second;
  };

export const FORMAT: ConstraintTable = {
  "detectable_content:number_placeholders": constraint(
    z.object({ num_placeholders: amount }),
    ({ num_placeholders: least }) =>
      ({ raw }) =>
        placeholders(raw).filter(isWritten).length >= least,
    ({ num_placeholders: least }) =>
      ({ raw }) =>
        placeholders(raw).length >= least,
  ),

  "detectable_content:postscript": constraint(
    z.object({ postscript_marker: phrase }),
    hasPostscript(escapePattern, isWritten),
    hasPostscript(unescaped, any),
  ),

  "detectable_format:number_bullet_lists": constraint(
    z.object({ num_bullets: amount }),
    ({ num_bullets: count }) =>
      ({ raw }) => {
        const found = bullets(raw);
        return found.length === count && found.every(isWritten);
      },
    ({ num_bullets: count }) =>
      ({ raw }) =>
        bullets(raw).length === count,
  ),

  "detectable_format:constrained_response": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        choosesOne(raw),
    () =>
      ({ raw }) =>
        CHOICES.some((choice) => raw.includes(choice)),
  ),

  "detectable_format:number_highlighted_sections": constraint(
    z.object({ num_highlights: amount }),
    ({ num_highlights: least }) =>
      ({ raw }) =>
        highlights(raw).filter(isWritten).length >= least,
    ({ num_highlights: least }) =>
      ({ raw }) =>
        highlights(raw).filter((text) => !isBlank(text)).length >= least,
  ),

  "detectable_format:multiple_sections": constraint(
    z.object({ section_spliter: phrase, num_sections: amount }),
    hasSections(escapePattern, isWritten),
    hasSections(unescaped, any),
  ),

  "detectable_format:title": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        hasTitle(raw),
    () =>
      ({ raw }) =>
        hasTitleAsReference(raw),
  ),

  /** Strict requires an object or a list: a bare number is JSON too, but is not what a prompt asks for. */
  "detectable_format:json_format": constraint(
    noArguments,
    () =>
      ({ raw }) => {
        const type = jsonIn(raw)?.type;
        return type === "dict" || type === "list";
      },
    () =>
      ({ raw }) =>
        jsonIn(raw) !== undefined,
  ),

  "detectable_format:sentence_hyphens": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        joinsSentences(raw, isWritten),
    () =>
      ({ raw }) =>
        joinsSentences(raw, any),
  ),

  "detectable_format:square_brackets": constraint(
    noArguments,
    () =>
      ({ fields: words }) =>
        words.every((word) => word.startsWith("[") && word.endsWith("]")),
  ),

  "detectable_format:bigram_wrapping": constraint(
    noArguments,
    () =>
      ({ fields: words }) =>
        words.every((word, i) => {
          if (i % 2 === 1) return word.endsWith(">>");
          return i === words.length - 1 || word.startsWith("<<");
        }),
  ),

  "combination:two_responses": constraint(
    noArguments,
    () => twoResponses(countWrittenParts, bareWords),
    () => twoResponses(countParts, trim),
  ),
};
