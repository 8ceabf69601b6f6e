import { isBlank } from "../../../python/text.ts";

const CLOSES: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

/**
 * Whether brackets of three kinds are somewhere open `depth` deep and the innermost one is then closed by its own
 * kind. A wrong closing bracket starts the count anew.
 */
export function nestedBrackets(text: string, depth: number): boolean {
  const open: string[] = [];
  let deepest = 0;
  for (const [char] of text.matchAll(/[()[\]{}]/g)) {
    const opener = CLOSES[char];
    if (opener === undefined) {
      open.push(char);
      deepest = Math.max(deepest, open.length);
    } else if (open.at(-1) === opener) {
      open.pop();
      if (deepest >= depth) return true;
    } else {
      open.length = 0;
      deepest = 0;
    }
  }
  return false;
}

/**
 * Whether `"` and `'` nest `depth` deep, alternating, and `depth` of them are closed again. A mark closes the
 * innermost one if it is the same, else it opens: an apostrophe counts as a quote.
 */
export function nestedQuotes(text: string, depth: number): boolean {
  const open: string[] = [];
  let deepest = 0;
  for (const [char] of text.matchAll(/["']/g)) {
    if (open.at(-1) === char) {
      open.pop();
      if (deepest - open.length >= depth) return true;
    } else {
      open.push(char);
      deepest = Math.max(deepest, open.length);
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

/** Whether each line is indented by more spaces than the one before; at least `least` lines. */
export function indentsGrow(text: string, least: number): boolean {
  const indents = withoutBlankLines(text.split("\n")).map(indent);
  return indents.length >= least && indents.every((width, k) => k === 0 || width > indents[k - 1]!);
}

/** `<i>` or, without one, `<em>`; text in it, and text after the `</i>` or, without one, the `</em>`. */
export function italicThesisAsReference(text: string): boolean {
  const open = text.includes("<i>") ? text.indexOf("<i>") : text.indexOf("<em>");
  if (open < 0) return false;
  const rest = text.slice(open);
  const close = rest.includes("</i>") ? rest.indexOf("</i>") : rest.indexOf("</em>");
  // Three and four characters for either tag: of `<em></em>` the two `>` count as text.
  return close >= 0 && !isBlank(rest.slice(3, close)) && !isBlank(rest.slice(close + 4));
}

/** Whether an element `name` with text in it is followed by text. */
function italicElement(text: string, name: string): boolean {
  const open = text.indexOf(`<${name}>`);
  const close = open < 0 ? -1 : text.indexOf(`</${name}>`, open);
  const [start, end] = [open + name.length + 2, close + name.length + 3];
  return close >= 0 && !isBlank(text.slice(start, close)) && !isBlank(text.slice(end));
}

/** Whether a thesis in HTML italics comes before other text, each tag measured by its own length. */
export const italicThesis = (text: string): boolean =>
  italicThesisAsReference(text) && (italicElement(text, "i") || italicElement(text, "em"));
