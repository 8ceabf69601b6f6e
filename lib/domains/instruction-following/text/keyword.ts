import { isWordChar } from "../../../python/text.ts";
import type { Compat } from "../../verify-case.ts";
import { escapePattern, Pattern, tryPattern } from "./pattern.ts";
import { foldCase } from "./pattern-syntax.ts";
import type { ResponseText } from "./response-text.ts";

/** A word or phrase to be found in responses, whatever its case. */
export interface Keyword {
  found(response: ResponseText): boolean;
  /** Occurrences that do not overlap. */
  count(response: ResponseText): number;
}

const METACHARACTER = /[\\^$.|?*+()[\]{}]/;

/**
 * How a row's keyword is looked for: strict takes it literally; reference as a regular expression, as the published
 * checkers do, "C++" among them ("undefined": Python refuses it, and nothing follows such a constraint).
 * Throws PatternError on an expression that cannot be matched in linear time.
 * @param whole a word character may stand neither before nor after it.
 */
export function keyword(text: string, compat: Compat, whole = false): Keyword | undefined {
  if (compat === "strict") return whole ? wholeWord(text) : literal(text);
  if (!whole && !METACHARACTER.test(text)) return literal(text);
  const pattern = tryPattern(whole ? `\\b${text}\\b` : text, { ignoreCase: true });
  return pattern && matchedBy(pattern);
}

const matchedBy = (pattern: Pattern): Keyword => ({
  found: ({ raw }) => pattern.found(raw),
  count: ({ raw }) => pattern.count(raw),
});

function literal(text: string): Keyword {
  const wanted = foldCase(text);
  return {
    found: ({ folded }) => folded.includes(wanted),
    count: ({ folded }) => folded.split(wanted).length - 1,
  };
}

/** Ends that are no word characters themselves ("C++") need none before or after either: \b would ask for one. */
function wholeWord(text: string): Keyword {
  const chars = [...text];
  const before = isWordChar(chars[0] ?? "") ? "\\b" : "";
  const after = isWordChar(chars.at(-1) ?? "") ? "\\b" : "";
  return matchedBy(new Pattern(`${before}${escapePattern(text)}${after}`, { ignoreCase: true }));
}
