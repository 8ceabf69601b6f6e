import { z } from "zod";
import { readJson } from "../../../python/json.ts";
import { escapePattern, tryPattern } from "../../../python/pattern.ts";
import { isBlank, isSpace, trim, trimChars, trimEnd } from "../../../python/text.ts";
import type { PythonValue } from "../../../python/value.ts";
import { amount, noArguments, phrase } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import { splitSentences } from "../text/sentences.ts";
import { countParts } from "./length.ts";

/** Spans in single square brackets on one line. */
function countPlaceholders(text: string): number {
  let count = 0;
  for (const line of text.split("\n")) {
    for (let open = line.indexOf("["); open >= 0; count++) {
      const close = line.indexOf("]", open + 1);
      if (close < 0) break;
      open = line.indexOf("[", close + 1);
    }
  }
  return count;
}

/**
 * Lines that begin, after any white space, with `bullet`. White space may be empty lines, and `*` takes the character
 * after it, whatever it is but another `*`: both as the published expressions `^\s*\*[^\*].*$` and `^\s*-.*$` do.
 */
function countBullets(text: string, bullet: "*" | "-"): number {
  let count = 0;
  for (let at = 0; at < text.length; ) {
    while (at < text.length && isSpace(text[at]!)) at += 1;
    const star = bullet === "*";
    const hit = text[at] === bullet && (!star || (at + 1 < text.length && text[at + 1] !== "*"));
    if (hit) count += 1;
    const lineEnd = text.indexOf("\n", hit && star ? at + 2 : at);
    if (lineEnd < 0) break;
    at = lineEnd + 1;
  }
  return count;
}

function countHighlights(text: string): number {
  const filled = (spans: readonly string[] | null) =>
    spans?.filter((span) => !isBlank(trimChars(span, "*"))).length ?? 0;
  return filled(text.match(/\*[^\n*]*\*/g)) + filled(text.match(/\*\*[^\n*]*\*\*/g));
}

/** `<<title>>` on one line, from its first `<<` to its last `>>`. */
function hasTitle(text: string): boolean {
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

/** Fences around JSON that are taken off, in this order, each once. */
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

/** @param asPattern what finds a marker that is not one of the usual two. */
const hasPostscript =
  (asPattern: (marker: string) => string) =>
  ({ postscript_marker }: { postscript_marker: string }): Check => {
    const marker = trim(postscript_marker);
    const source = MARKERS.get(marker) ?? asPattern(marker.toLowerCase());
    const pattern = tryPattern(source, { multiline: true });
    return ({ lower }) => pattern?.found(lower) ?? false;
  };

/** @param asPattern what finds the word that begins a section. */
const hasSections =
  (asPattern: (splitter: string) => string) =>
  ({ section_spliter, num_sections: least }: { section_spliter: string; num_sections: number }): Check => {
    const pattern = tryPattern(`\\s?${asPattern(trim(section_spliter))}\\s?\\d+\\s?`);
    return ({ raw }) => pattern !== undefined && pattern.count(raw) >= least;
  };

const unescaped = (source: string): string => source;

const CHOICES = ["My answer is yes.", "My answer is no.", "My answer is maybe."];

const TWO = "******";

export const FORMAT: ConstraintTable = {
  "detectable_content:number_placeholders": constraint(
    z.object({ num_placeholders: amount }),
    ({ num_placeholders: least }) =>
      ({ raw }) =>
        countPlaceholders(raw) >= least,
  ),

  "detectable_content:postscript": constraint(
    z.object({ postscript_marker: phrase }),
    hasPostscript(escapePattern),
    hasPostscript(unescaped),
  ),

  "detectable_format:number_bullet_lists": constraint(
    z.object({ num_bullets: amount }),
    ({ num_bullets: count }) =>
      ({ raw }) =>
        countBullets(raw, "*") + countBullets(raw, "-") === count,
  ),

  "detectable_format:constrained_response": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        CHOICES.some((choice) => raw.includes(choice)),
  ),

  "detectable_format:number_highlighted_sections": constraint(
    z.object({ num_highlights: amount }),
    ({ num_highlights: least }) =>
      ({ raw }) =>
        countHighlights(raw) >= least,
  ),

  "detectable_format:multiple_sections": constraint(
    z.object({ section_spliter: phrase, num_sections: amount }),
    hasSections(escapePattern),
    hasSections(unescaped),
  ),

  "detectable_format:title": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        hasTitle(raw),
  ),

  /** Strict asks for an object or a list: a bare number is JSON too, but nobody asks for that. */
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

  "detectable_format:sentence_hyphens": constraint(noArguments, () => ({ raw }) => {
    const sentences = splitSentences(raw.replaceAll("-", " "));
    const pieces = raw.split("-");
    return pieces.every(
      (piece, i) => i >= sentences.length || (piece === trim(piece) && piece === sentences[i]),
    );
  }),

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

  "combination:two_responses": constraint(noArguments, () => ({ raw }) => {
    const parts = raw.split(TWO);
    if (countParts(parts) !== 2) return false;
    const [first, second] = parts.filter((part) => !isBlank(part)).map(trim);
    return first !== second;
  }),
};
