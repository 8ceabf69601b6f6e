import { z } from "zod";
import { fields, isBlank, isLower, isUpper, PUNCTUATION, SPACE, trim } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { noArguments, phrase } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import { punktSentences } from "../text/punkt.ts";
import type { ResponseText } from "../text/response-text.ts";
import {
  indentsGrow,
  italicThesis,
  italicThesisAsReference,
  nestedBrackets,
  nestedQuotes,
  writtenIndentsGrow,
} from "./layout.ts";
import { trimPunctuation, withoutClosing, withoutPunctuation } from "./punctuation.ts";

/**
 * A single code point that is an emoji without modifiers; excludes digits, `#`, `*` and the letters that flags are
 * made of.
 */
const EMOJI = /^(?:(?![0-9#*\u{1f1e6}-\u{1f1ff}])[\p{Emoji}\u{1f6d8}\u{1f6d9}\u{1fa70}-\u{1faff}])$/u;

const ANY_SPACE = new RegExp(`[${SPACE}]`);

const isEmoji = (char: string | undefined): boolean => char !== undefined && EMOJI.test(char);

/** The options in a text such as "yes/no", "this or that" or "a, b". */
function optionList(options: string): string[] {
  const separator = options.includes("/") ? "/" : options.includes("or") ? "or" : ",";
  return options.split(separator).map(trim);
}

/** Answer choices "a), b), c)" must be written verbatim; words in any case, with marks around them. */
function oneOf(options: string): Check {
  const choices = optionList(options);
  if (/^[^\p{L}\p{N}_]*[aA][^\p{L}\p{N}_]*[bB][^\p{L}\p{N}_]*[cC]/u.test(options)) {
    return ({ raw }) => choices.includes(raw);
  }
  const words = choices.map((choice) => trimPunctuation(choice).toLowerCase());
  return ({ raw }) => words.includes(trimPunctuation(raw).toLowerCase());
}

function wordPerLine({ raw }: ResponseText): boolean {
  const text = trim(withoutPunctuation(raw));
  return text.split("\n").filter((line) => line !== "").length === fields(text).length;
}

/** Each sentence ends in an emoji, ignoring marks; Punkt may assign an emoji after the mark to the next sentence. */
function emojiEverySentence({ sentences }: ResponseText): boolean {
  const bare = sentences.map((sentence) => [...trim(withoutPunctuation(sentence))]);
  return bare.every((chars, k) => {
    if (chars.length === 0) return false;
    // Also checks the second-last code point: a variation selector or a joiner may follow the emoji.
    return isEmoji(chars.at(-1)) || isEmoji(chars.at(-2)) || isEmoji(bare[k + 1]?.[0]);
  });
}

/** No quotation is adjacent to the next or ends the text; digits and marks between them do not count as an explanation. */
function quotesExplained({ raw }: ResponseText): boolean {
  const text = fields(raw.replaceAll("'\"'", "")).join("");
  if (text.includes('""')) return false;
  const ends = `0123456789${PUNCTUATION.replace('"', "")}`;
  let end = text.length;
  while (end > 0 && ends.includes(text[end - 1]!)) end -= 1;
  return text[end - 1] !== '"';
}

const isWritten = (text: string): boolean => !isWordless(text);

/** A quotation with a word in it, in straight quotes. */
const QUOTATION = /"([^"]*)"/g;
const quotes = ({ raw }: ResponseText): boolean =>
  [...raw.matchAll(QUOTATION)].some(([, text]) => isWritten(text!));

/** Lines that begin with the separator and have a word behind it. */
const listed = (text: string, separator: string): number =>
  text
    .split("\n")
    .map(trim)
    .filter((line) => line.startsWith(separator) && isWritten(line.slice(separator.length))).length;

const startsWith = (line: string, mark: string): boolean => trim(line).startsWith(mark);

/**
 * At least two sentences, then at least two lines with `*`, then nothing. A blank line among the sentences ends them,
 * as a line without a sentence does in the reference.
 */
const sentencesThenBullets =
  (counts: (sentence: string) => boolean): Check =>
  ({ raw }) => {
    const lines = raw.split("\n");
    const firstBullet = lines.findIndex((line) => startsWith(line, "*"));
    if (firstBullet < 0 || !lines.slice(firstBullet).every((line) => startsWith(line, "*"))) return false;
    const texts = lines.slice(0, firstBullet);
    if (texts.slice(0, -1).some(isBlank)) return false;
    const sentences = texts.flatMap((line) => punktSentences(trim(line))).filter(counts);
    return sentences.length >= 2 && lines.length - firstBullet >= 2;
  };

/**
 * Like sentencesThenBullets, but each sentence must contain a word and end in a period, and each bullet must
 * contain a word.
 */
function periodsThenBullets(response: ResponseText): boolean {
  const bullets = response.raw.split("\n").filter((line) => startsWith(line, "*"));
  return bullets.every(isWritten) && sentencesThenBullets(endsInPeriod)(response);
}
const endsInPeriod = (sentence: string): boolean =>
  isWritten(sentence) && withoutClosing(sentence).endsWith(".");

/** True if a word is in title case, or its case is undefined: no letter first, or mixed case after it. */
function inTitleCase(word: string): boolean {
  const [first, ...rest] = word;
  if (first === undefined || !/^\p{L}$/u.test(first)) return true;
  const tail = rest.join("");
  return !isLower(first) || !(tail === "" || isLower(tail) || isUpper(tail));
}

/** A line that begins with a star, but not with `**bold**` or `*emphasis*`. */
const BULLET = /^\*(?!\*)(?![^\s*][^*]*\*)/;
const SUB_BULLET = /^-(?!-)/;

/**
 * True if there is a bullet, and under each bullet a sub-bullet on a line of its own; all must contain a
 * word.
 */
function subBullets(raw: string): boolean {
  const lines = raw.split("\n").map(trim);
  const bullets = lines.flatMap((line, at) => (BULLET.test(line) ? [at] : []));
  const isSubBullet = (line: string) => SUB_BULLET.test(line) && isWritten(line);
  return (
    bullets.length > 0 &&
    bullets.every((at, k) => isWritten(lines[at]!) && lines.slice(at + 1, bullets[k + 1]).some(isSubBullet))
  );
}

const TEMPLATE = ["My Answer:", "My Conclusion:", "Future Outlook:"];

/** True if the three headings occur in order, each followed by a word. */
function fillsTemplate({ raw }: ResponseText): boolean {
  const places = TEMPLATE.map((heading) => raw.indexOf(heading));
  return TEMPLATE.every((heading, k) => {
    const [start, end] = [places[k]!, places[k + 1] ?? raw.length];
    return start >= 0 && end > start && isWritten(raw.slice(start + heading.length, end));
  });
}

/** The whole layout of a response. Source: IFBench, Pyatkin et al. 2025, out-of-domain constraints. */
export const FORMAT: ConstraintTable = {
  "format:parentheses": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        nestedBrackets(raw, 5, isWritten),
    () =>
      ({ raw }) =>
        nestedBrackets(raw, 5),
  ),
  "format:quotes": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        nestedQuotes(raw, 3, isWritten),
    () =>
      ({ raw }) =>
        nestedQuotes(raw, 3),
  ),
  "format:options": constraint(z.object({ options: phrase }), ({ options }) => oneOf(options)),
  "format:newline": constraint(noArguments, () => wordPerLine),
  "format:emoji": constraint(noArguments, () => emojiEverySentence),
  "format:line_indent": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        writtenIndentsGrow(raw),
    () =>
      ({ raw }) =>
        indentsGrow(raw, 0),
  ),
  // The reference passes a text without quotations.
  "format:quote_unquote": constraint(
    noArguments,
    () => (response) => quotes(response) && quotesExplained(response),
    () => quotesExplained,
  ),
  // The reference counts the separator anywhere: "well-known, long-lived" is a list of "-".
  "format:list": constraint(
    z.object({ sep: phrase }),
    ({ sep }) =>
      ({ raw }) =>
        listed(raw, trim(sep)) >= 2,
    ({ sep }) =>
      ({ raw }) =>
        raw.split(sep).length > 2,
  ),
  "format:thesis": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        italicThesis(raw),
    () =>
      ({ raw }) =>
        italicThesisAsReference(raw),
  ),
  // The reference accepts a text without `*`. It takes every star for a bullet, "**" for two, and every
  // hyphen for a sub-bullet.
  "format:sub-bullets": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        subBullets(raw),
    () =>
      ({ raw }) =>
        raw
          .split("*")
          .slice(1)
          .every((bullet) => bullet.includes("-")),
  ),
  // The prompt asks for sentences that end in a period; the reference accepts any sentence, even a heading without a
  // mark, which Punkt takes for a sentence.
  "format:no_bullets_bullets": constraint(
    noArguments,
    () => periodsThenBullets,
    () => sentencesThenBullets(() => true),
  ),
  "format:title_case": constraint(
    noArguments,
    () =>
      ({ tokens }) =>
        tokens.every(inTitleCase),
  ),
  "format:output_template": constraint(
    noArguments,
    () => fillsTemplate,
    () =>
      ({ raw }) =>
        TEMPLATE.every((heading) => raw.includes(heading)),
  ),
  "format:no_whitespace": constraint(
    noArguments,
    () =>
      ({ raw }) =>
        !ANY_SPACE.test(raw),
  ),
};
