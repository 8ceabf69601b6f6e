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
/** A selector of how a sign is drawn says nothing behind a letter. */
const STRAY_SELECTOR = /(?<=\p{Script=Latin})[\ufe00-\ufe0f]/gu;

/** Letters of other scripts that are drawn as Latin ones, where a word has letters of both. */
const MIXED = /(?=\p{L}*\p{Script=Latin})(?=\p{L}*[\p{Script=Cyrillic}\p{Script=Greek}])\p{L}+/gu;
/** Each Latin letter before those that look like it. */
const ALIKE =
  "aа eе oоο pр cс xх yу iі jј sѕ hһ dԁ qԛ wԝ vν AАΑ BВΒ EЕΕ KКΚ MМΜ HНΗ OОΟ PРΡ CС TТΤ XХΧ YУΥ IІΙ JЈ SЅ ZΖ NΝ";
const DRAWN_ALIKE = new Map(
  ALIKE.split(" ").flatMap(([latin, ...others]) => others.map((letter) => [letter, latin!] as const)),
);
const inLatin = (word: string): string =>
  [...word].map((letter) => DRAWN_ALIKE.get(letter) ?? letter).join("");

/** Only texts with one of these can have any of the others. */
const ANY = /[^\n\t\r -~]/;

/**
 * A text as a reader sees it: characters that show nothing are gone, those that show a gap are spaces, and in a word of
 * Latin letters those of other scripts are Latin that look so. Words that were cut by one or joined by the other are then
 * found, and lists of nothing are lists of nothing.
 */
export function shownText(text: string): string {
  if (!ANY.test(text)) return text;
  return text
    .replace(GAPS, " ")
    .replace(HIDDEN, "")
    .replace(STRAY_JOINER, "")
    .replace(STRAY_SELECTOR, "")
    .replace(MIXED, inLatin);
}
