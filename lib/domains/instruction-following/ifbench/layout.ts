import { isBlank } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";

const CLOSES: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/** Decides whether a text may be the innermost one of nested brackets or quotes. */
type Counts = (inside: string) => boolean;
const anyText: Counts = () => true;

/**
 * True if brackets of three kinds are nested `depth` deep somewhere and the innermost one is then closed by its own
 * kind. A mismatched closing bracket restarts the count.
 * @param counts decides whether a text may be between the deepest bracket and its closing one
 */
export function nestedBrackets(text: string, depth: number, counts: Counts = anyText): boolean {
  const open: string[] = [];
  let [deepest, at] = [0, 0];
  for (const { 0: char, index } of text.matchAll(/[()[\]{}]/g)) {
    const opener = CLOSES[char];
    if (opener === undefined) {
      open.push(char);
      if (open.length > deepest) [deepest, at] = [open.length, index + 1];
    } else if (open.at(-1) === opener) {
      open.pop();
      if (deepest >= depth && counts(text.slice(at, index))) return true;
    } else {
      open.length = 0;
      deepest = 0;
    }
  }
  return false;
}

/**
 * True if `"` and `'` nest `depth` deep, alternating, and `depth` of them are closed again. A mark closes the
 * innermost one if it is the same, else it opens: an apostrophe counts as a quote.
 * @param counts decides whether a text may be between the deepest mark and the end of the quotation
 */
export function nestedQuotes(text: string, depth: number, counts: Counts = anyText): boolean {
  const open: string[] = [];
  let [deepest, at] = [0, 0];
  for (const { 0: char, index } of text.matchAll(/["']/g)) {
    if (open.at(-1) === char) {
      open.pop();
      if (deepest - open.length >= depth && counts(text.slice(at, index))) return true;
    } else {
      open.push(char);
      if (open.length > deepest) [deepest, at] = [open.length, index + 1];
    }
  }
  return false;
}

/**
 * Lines without the blank ones that the reference removes. It edits the list it iterates over: after each blank line
 * the next line is skipped, and of equal blank lines the first is removed.
 */
function withoutBlankLines(lines: readonly string[]): string[] {
  const removals = new Map<string, number>();
  for (let k = 0; k < lines.length; k += 1) {
    const line = lines[k]!;
    if (!isBlank(line)) continue;
    removals.set(line, (removals.get(line) ?? 0) + 1);
    k += 1;
  }
  return lines.filter((line) => {
    const left = removals.get(line) ?? 0;
    if (left > 0) removals.set(line, left - 1);
    return left === 0;
  });
}

const indent = (line: string): number => line.length - line.replace(/^ +/, "").length;

/** True if each line is indented by more spaces than the previous one; at least `least` lines. */
export function indentsGrow(text: string, least: number): boolean {
  const indents = withoutBlankLines(text.split("\n")).map(indent);
  return indents.length >= least && indents.every((width, k) => k === 0 || width > indents[k - 1]!);
}

/** Like indentsGrow for two lines or more, each of which contains a word. */
export const writtenIndentsGrow = (text: string): boolean =>
  !text.split("\n").some((line) => !isBlank(line) && isWordless(line)) && indentsGrow(text, 2);

/** Requires `<i>` or, without one, `<em>`; text in it, and text after the `</i>` or, without one, the `</em>`. */
export function italicThesisAsReference(text: string): boolean {
  const open = text.includes("<i>") ? text.indexOf("<i>") : text.indexOf("<em>");
  if (open < 0) return false;
  const rest = text.slice(open);
  const close = rest.includes("</i>") ? rest.indexOf("</i>") : rest.indexOf("</em>");
  // The reference skips three and four characters for either tag, so in `<em></em>` the two `>` count as
  // text.
  return close >= 0 && !isBlank(rest.slice(3, close)) && !isBlank(rest.slice(close + 4));
}

/** True if an element `name` that contains a word is followed by a word. */
function italicElement(text: string, name: string): boolean {
  const open = text.indexOf(`<${name}>`);
  const close = open < 0 ? -1 : text.indexOf(`</${name}>`, open);
  const [start, end] = [open + name.length + 2, close + name.length + 3];
  return close >= 0 && !isWordless(text.slice(start, close)) && !isWordless(text.slice(end));
}

/** True if a thesis in HTML italics precedes other text; measures each tag by its own length. */
export const italicThesis = (text: string): boolean =>
  italicThesisAsReference(text) && (italicElement(text, "i") || italicElement(text, "em"));
