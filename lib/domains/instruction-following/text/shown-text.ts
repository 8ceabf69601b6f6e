import { SPACE } from "../../../python/text.ts";

/** Letters and symbols that are drawn as a gap. */
const GAPS = /[\u2800\u3164\uffa0\u{13441}\u{13442}\u{1d159}]/gu;

/**
 * What is drawn as nothing: controls that are no white space, and what a font leaves out. Variation selectors stay with
 * their emoji; joiners stay beside what they join, which Latin letters, digits and marks of ASCII are not.
 */
const HIDDEN = new RegExp(
  `(?![${SPACE}\\ufe00-\\ufe0f\\u200c\\u200d])[\\p{Default_Ignorable_Code_Point}\\p{Cc}\\ufff9-\\ufffb]`,
  "gu",
);
const JOINED = "[^\\p{ASCII}\\p{Script=Latin}\\u200c\\u200d]";
const STRAY_JOINER = new RegExp(`(?<!${JOINED})[\\u200c\\u200d]|[\\u200c\\u200d](?!${JOINED})`, "gu");
/** Only texts with one of these can have any of the others. */
const ANY = /[^\n\t\r -~]/;

/**
 * A text as a reader sees it: characters that show nothing are gone, those that show a gap are spaces. Words that were cut
 * by one or joined by the other are then found, and lists of nothing are lists of nothing.
 */
export function shownText(text: string): string {
  if (!ANY.test(text)) return text;
  return text.replace(GAPS, " ").replace(HIDDEN, "").replace(STRAY_JOINER, "");
}
