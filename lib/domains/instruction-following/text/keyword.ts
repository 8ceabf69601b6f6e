import { escapePattern, Pattern, tryPattern } from "../../../python/pattern.ts";
import { foldCase } from "../../../python/pattern-characters.ts";
import { isWordChar } from "../../../python/text.ts";
import type { ResponseText } from "./response-text.ts";

/** A word or phrase to find in responses, ignoring case. */
export interface Keyword {
  found(response: ResponseText): boolean;
  /** Occurrences that do not overlap. */
  count(response: ResponseText): number;
}

const METACHARACTER = /[\\^$.|?*+()[\]{}]/;

/** Finds a row's keyword in a text; undefined if the keyword is an expression that Python refuses. */
export type KeywordReader = (text: string) => Keyword | undefined;

/**
 * Reads the keyword as a regular expression, as the published checkers do, even "C++", which Python rejects: no
 * response follows such a constraint. Throws PatternError for an expression that cannot be matched in linear time.
 */
export function expression(text: string): Keyword | undefined {
  return METACHARACTER.test(text) ? inPattern(text) : literal(text);
}

/** Like `expression`, with Python's word boundary at both ends. */
export const wholeExpression = (text: string): Keyword | undefined => inPattern(`\\b${text}\\b`);

function inPattern(source: string): Keyword | undefined {
  const pattern = tryPattern(source, { ignoreCase: true });
  return pattern && matchedBy(pattern);
}

const matchedBy = (pattern: Pattern): Keyword => ({
  found: ({ raw }) => pattern.found(raw),
  count: ({ raw }) => pattern.count(raw),
});

/** The keyword as literal text. */
export function literal(text: string): Keyword {
  const wanted = foldCase(text);
  return {
    found: ({ folded }) => folded.includes(wanted),
    count: ({ folded }) => folded.split(wanted).length - 1,
  };
}

/**
 * The keyword as literal text without an adjacent word character. Ends that are not word characters themselves
 * ("C++") need no boundary: \b would require a word character there.
 */
export function wholeWord(text: string): Keyword {
  const chars = [...text];
  const before = isWordChar(chars[0] ?? "") ? "\\b" : "";
  const after = isWordChar(chars.at(-1) ?? "") ? "\\b" : "";
  return matchedBy(new Pattern(`${before}${escapePattern(text)}${after}`, { ignoreCase: true }));
}
