import { boxContent, lastBox, type Tail } from "./boxed.ts";

const BOX = "\\boxed{";
/** Text that may surround a box. */
const SET_IN = String.raw`(?:[\s$*_()\[\]]|\\[()\[\],;:! ]|\\q?quad)`;
/** Text that may separate two boxes of one answer: punctuation, list numbers, and words that introduce an alternative. */
const BETWEEN =
  /\\(?:text|quad|qquad|[()[\],;:! ])|\((?:[a-z]|\d{1,2})\)|\b\d{1,2}[.)](?=\s)|\b(?:and|or|also|else|otherwise|alternatively|either|even|maybe|perhaps|possibly|if (?:so|not|wrong))\b|[\s$*_{}()[\],;:./|!&-]/gi;
const BETWEEN_CHARS = 80;
const isJoint = (gap: string): boolean => gap.length <= BETWEEN_CHARS && gap.replace(BETWEEN, "") === "";
const ALTERNATIVE = new RegExp(
  `^${SET_IN}{0,12},?${SET_IN}{0,12}(?:[/|]|(?:or|alternatively|otherwise|else)\\b)(?:[\\s,]{0,4}(?:maybe|perhaps|possibly|even|else|if (?:not|wrong))\\b){0,3}[\\s,:]{0,4}(?![^\\n]{0,40}\\\\boxed)`,
  "i",
);
/** A number after "or", or before it. */
const VALUE = String.raw`[-−]?(?:\d+(?:\.\d+)?(?:\s*/\s*\d+)?|\\d?frac\s*\{[^{}]{1,20}\}\s*\{[^{}]{1,20}\})`;
const VALUE_BEHIND = new RegExp(`^${SET_IN}{0,12}(${VALUE})(?=[\\s$*)\\]]{0,6}(?:[.,;!\\n]|\\\\[)\\]]|$))`);
const VALUE_BEFORE = new RegExp(
  `(?:^|[^\\d\\s+*/^.−-])[\\s$*(]{0,6}(${VALUE})${SET_IN}{0,12},?\\s*(?:or|alternatively,?)${SET_IN}{0,12}$`,
  "i",
);
const MOST_BOXES = 16;
const BEFORE_CHARS = 80;

/**
 * The last box of a response, together with other parts of the same answer: preceding boxes separated by only a
 * comma, "and" or "or", and an adjacent number joined by "or". They form a list in one box, so that two different
 * answers never equal one of them.
 */
export function answerBox(response: string): Tail {
  const last = lastBox(response);
  if (last.status !== "found") return last;
  const content = boxContent(last.text);
  if (content === undefined || !content.closed) return last;
  const values = [content.text];
  let start = response.length - last.text.length;
  while (values.length < MOST_BOXES) {
    const before = response.lastIndexOf(BOX, start - 1);
    const tail = before < 0 || start === 0 ? undefined : closedBox(response.slice(before, start));
    if (tail === undefined || !isJoint(tail.behind)) break;
    if (tail.text !== values[0]) values.unshift(tail.text);
    start = before;
  }
  values.push(...alternatives(response.slice(Math.max(0, start - BEFORE_CHARS), start), last.text, values));
  return values.length === 1 ? last : { status: "found", text: `\\boxed{${values.join(", ")}}` };
}

/** A box at the start of the text, and the text after it. */
function closedBox(text: string): { readonly text: string; readonly behind: string } | undefined {
  let depth = 0;
  for (let i = BOX.length - 1; i < text.length; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0)
      return { text: text.slice(BOX.length, i).trim(), behind: text.slice(i + 1) };
  }
  return undefined;
}

/** Numbers other than `values` that an "or" joins to the box. */
function alternatives(before: string, tail: string, values: readonly string[]): string[] {
  const behind = closedBox(tail)?.behind ?? "";
  const joint = ALTERNATIVE.exec(behind)?.[0];
  const found = [
    joint === undefined ? undefined : VALUE_BEHIND.exec(behind.slice(joint.length))?.[1],
    VALUE_BEFORE.exec(before)?.[1],
  ];
  return found.filter((value) => value !== undefined).filter((value) => !values.includes(value));
}
