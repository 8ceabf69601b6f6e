import { boxContent, lastBox, MAX_TAIL, type Tail } from "./boxed.ts";

/** Where a prompt may request the answer, other than in a box: after these words, or in this tag. */
export const MARKERS = ["Answer:", "####", "<answer>"] as const;
export type Marker = (typeof MARKERS)[number];

/** Text before "Answer:" on its line: a quote, a heading, a list bullet, bold type. */
const BEFORE = String.raw`[ \t>]*(?<heading>#{1,6}[ \t]*)?(?:(?:[-+•◦▪]|\d{1,2}[.)])[ \t]+)?[ \t*_]*`;

/** The text that completes each marker; a heading needs no colon. */
const MARKED: Readonly<Record<Marker, RegExp>> = {
  "Answer:": new RegExp(
    String.raw`(?:^|</think>)${BEFORE}(?:final[ \t]+)?answer[ \t*_]*(?:[:：]|(?<bare>$))`,
    "gimd",
  ),
  "####": /####(?!#)/g,
  "<answer>": /<answer>/gi,
};
const END_TAG = /<\/answer>/i;
/** A tag before the last one, with an "or" between the two. */
const OTHER_TAG = /<answer>([^<]{0,200})<\/answer>[\s*$,.]{0,8}(?:or|alternatively)\b[\s*$,]{0,8}$/i;

/**
 * The last answer that a response states, as a text that begins with its box: the last box, or the text after the
 * last marker in the last 1,000 characters, put into a box; whichever begins later. A box after the marker is the
 * marked answer itself ("Answer: \boxed{7}").
 * @param boxOf returns the last box of a response, with the rest of its answer
 */
export function lastStated(
  response: string,
  marker: Marker | undefined,
  boxOf: (response: string) => Tail = lastBox,
): Tail {
  const boxed = boxOf(response);
  if (marker === undefined) return boxed;
  const line = lastMarked(response, marker);
  if (line === undefined)
    return boxed.status === "no_answer"
      ? { ...boxed, reason: `nothing after ${marker}, and ${boxed.reason}` }
      : boxed;
  if (response.lastIndexOf("\\boxed{") > line.at) return boxed;
  const text = `\\boxed{${line.content}}`;
  return boxContent(text)?.text === line.content
    ? { status: "found", text }
    : { status: "unparsable", reason: `braces after ${marker} do not match` };
}

/** The last marker followed by text, and that text. */
function lastMarked(response: string, marker: Marker): { at: number; content: string } | undefined {
  const tail = response.slice(-MAX_TAIL);
  const found = [...tail.matchAll(MARKED[marker])].filter(
    ({ groups }) => groups?.["bare"] === undefined || groups["heading"] !== undefined,
  );
  for (const match of found.reverse()) {
    const content = behind(tail.slice(match.index + match[0].length), marker);
    if (content === undefined) continue;
    const other = marker === "<answer>" ? OTHER_TAG.exec(tail.slice(0, match.index))?.[1] : undefined;
    const at = response.length - tail.length + match.index;
    return { at, content: other === undefined ? content : `${withoutMarks(other)} or ${content}` };
  }
  return undefined;
}

function behind(rest: string, marker: Marker): string | undefined {
  if (marker !== "<answer>") return stated(rest);
  const end = rest.search(END_TAG);
  return end < 0 ? undefined : stated(rest.slice(0, end));
}

/** Marks of Markdown before a value: bold type, quotes, code, a bullet that is no minus sign. */
const OPENING = /^(?:[\s*_`>]|[•◦▪])+/;
/** Trailing emphasis and the punctuation of a sentence; the star of \mathbb{N}^* stays. */
const CLOSING = /(?:[\s_`]|(?<!\^|\^\{|[ℕℤℝℚℂ])\*|(?<=[*_`])[.。]|[。](?=[\s*_`]*$))+$/;
/** Display math and blocks of code around a value. */
const DISPLAYS = [
  [/^\\\[/, "\\]"],
  [/^\$\$/, "$$"],
  [/^```[a-z]*\n/, "```"],
] as const;

/** The value at the start of a text: a line or a display formula, plus the continuation in the lines after it. */
function stated(rest: string): string | undefined {
  const text = rest.replace(/^[\s*_>•◦▪]+/, "");
  if (text === "") return undefined;
  const [value, after] = displayed(text) ?? firstLine(text);
  const isApart = rest.slice(0, rest.length - text.length).includes("\n") || after.shown;
  return withoutMarks(value + added(after.lines, isApart));
}

interface After {
  readonly lines: readonly string[];
  /** True if the value was a display formula. */
  readonly shown: boolean;
}

function firstLine(text: string): [string, After] {
  const [line = "", ...lines] = text.split("\n");
  return [line, { lines, shown: false }];
}

function displayed(text: string): [string, After] | undefined {
  for (const [open, close] of DISPLAYS) {
    const opening = open.exec(text)?.[0];
    const end = opening === undefined ? -1 : text.indexOf(close, opening.length);
    if (end < 0) continue;
    const [onLine = "", ...lines] = text.slice(end + close.length).split("\n");
    const behind = onLine.replace(/^[\s*_.。,]+$/, "");
    return [`${text.slice(opening!.length, end).trim()}${behind}`, { lines, shown: true }];
  }
  return undefined;
}

/** Words that continue the value on the next line, and text that may separate two values. */
const FURTHER =
  /^[\s*_>(-]{0,8}(or|either|alternatively|otherwise|maybe|perhaps|possibly|and)\b[\s,:]{0,4}(?:(?:maybe|perhaps|possibly|also|even|either|(?:it )?(?:is|may be|could be))\b[\s,:]{0,4}){0,4}/i;
const WORD = /\p{L}{2,}/u;
const NOTHING = /^(?:[\s*_`>$.,;∎■□-]|\\[[\]()])*$/;

/**
 * Continuation of a value in the lines after it: a line that begins with "or" or "and", or a line with only another
 * value, which must follow immediately, or after blank lines if the first value was on a line of its own.
 */
function added(lines: readonly string[], isApart: boolean): string {
  let text = "";
  let isNext = true;
  let joint: string | undefined;
  for (const line of lines) {
    const further = FURTHER.exec(line);
    const value = further === null ? line : line.slice(further[0].length);
    if (further !== null) joint = further[1]!.toLowerCase() === "and" ? " and " : " or ";
    if (WORD.test(value.replace(/\\[A-Za-z]+/g, ""))) break;
    if (NOTHING.test(value)) {
      isNext = false;
      continue;
    }
    if (joint === undefined && !isNext && !isApart) break;
    const isChain = /^\s*=/.test(value);
    text += `${joint ?? (isChain ? " " : ", ")}${withoutMarks(value)}`;
    joint = undefined;
  }
  return text;
}

/** Removes dollar signs, which "Answer: $Answer" leads models to copy, and bold type. */
const withoutMarks = (content: string): string =>
  content
    .replace(/(?<!\\)\$/g, "")
    .replace(OPENING, "")
    .replace(CLOSING, "")
    .trim();
