import { SPACE } from "../../../python/text.ts";

/** Letters and symbols that are drawn as a gap. */
const GAPS = /[\u2800\u3164\uffa0\u{13441}\u{13442}\u{1d159}]/gu;

/**
 * Invisible characters: controls other than white space, and default-ignorable ones. Variation selectors stay with
 * their emoji; joiners stay between characters that they can join, which excludes Latin letters, digits and ASCII
 * marks.
 */
const HIDDEN = new RegExp(
  `(?![${SPACE}\\ufe00-\\ufe0f\\u200c\\u200d])[\\p{Default_Ignorable_Code_Point}\\p{Cc}\\ufff9-\\ufffb]`,
  "gu",
);
const JOINED = "[^\\p{ASCII}\\p{Script=Latin}\\u200c\\u200d]";
const STRAY_JOINER = new RegExp(`(?<!${JOINED})[\\u200c\\u200d]|[\\u200c\\u200d](?!${JOINED})`, "gu");
/** A variation selector after a letter has no effect. */
const STRAY_SELECTOR = /(?<=\p{Script=Latin})[\ufe00-\ufe0f]/gu;

/** Letters of other scripts that look like Latin ones, in words that mix both. */
const MIXED = /(?=\p{L}*\p{Script=Latin})(?=\p{L}*[\p{Script=Cyrillic}\p{Script=Greek}])\p{L}+/gu;
/** Each Latin letter, followed by its look-alikes. */
const ALIKE =
  "aа eе oоο pр cс xх yу iі jј sѕ hһ dԁ qԛ wԝ vν AАΑ BВΒ EЕΕ KКΚ MМΜ HНΗ OОΟ PРΡ CС TТΤ XХΧ YУΥ IІΙ JЈ SЅ ZΖ NΝ";
const DRAWN_ALIKE = new Map(
  ALIKE.split(" ").flatMap(([latin, ...others]) => others.map((letter) => [letter, latin!] as const)),
);
const inLatin = (word: string): string =>
  [...word].map((letter) => DRAWN_ALIKE.get(letter) ?? letter).join("");

/** Quick test: only a text with one of these characters can contain invisible or look-alike ones. */
const ANY = /[^\n\t\r -~]/;

/**
 * A text as a reader sees it: without invisible characters, with spaces for characters that look like gaps, and, in
 * words of Latin letters, with Latin letters for look-alikes. Keywords that such characters split or join are then
 * found, and lists of invisible items are empty.
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
