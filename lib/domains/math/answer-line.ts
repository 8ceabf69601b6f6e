import { boxContent, lastBox, MAX_TAIL, type Tail } from "./boxed.ts";

/** Where a prompt may ask for the answer, if not in a box: behind these words, or in this tag. */
export const MARKERS = ["Answer:", "####", "<answer>"] as const;
export type Marker = (typeof MARKERS)[number];

/** What stands before "Answer:" on its line: a quote, a heading, a list's mark, bold type. */
const BEFORE = String.raw`[ \t>]*(?<heading>#{1,6}[ \t]*)?(?:(?:[-+•◦▪]|\d{1,2}[.)])[ \t]+)?[ \t*_]*`;

/** The end of each marker; a heading may do without its colon. */
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
 * The last answer that a response states, as a text that begins with its box: the last box, or what follows the last
 * marker in the last 1,000 characters, put into a box; whichever begins later. A box behind the marker is the marked
 * answer itself ("Answer: \boxed{7}").
 * @param boxOf the last box of a response, with what belongs to it.
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

/** The last marker with something behind it, and that. */
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
/** And behind it, with the mark of a sentence; the star of \mathbb{N}^* stays. */
const CLOSING = /(?:[\s_`]|(?<!\^|\^\{|[ℕℤℝℚℂ])\*|(?<=[*_`])[.。]|[。](?=[\s*_`]*$))+$/;
/** Display math and blocks of code around a value. */
const DISPLAYS = [
  [/^\\\[/, "\\]"],
  [/^\$\$/, "$$"],
  [/^```[a-z]*\n/, "```"],
] as const;

/** The value that a text begins with: a line, or a formula set apart, and what the lines behind it add to it. */
function stated(rest: string): string | undefined {
  const text = rest.replace(/^[\s*_>•◦▪]+/, "");
  if (text === "") return undefined;
  const [value, after] = displayed(text) ?? firstLine(text);
  const isApart = rest.slice(0, rest.length - text.length).includes("\n") || after.shown;
  return withoutMarks(value + added(after.lines, isApart));
}

interface After {
  readonly lines: readonly string[];
  /** Whether the value was set apart as a formula. */
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

/** What makes a line go on with the value, and what may stand between that and another one. */
const FURTHER =
  /^[\s*_>(-]{0,8}(or|either|alternatively|otherwise|maybe|perhaps|possibly|and)\b[\s,:]{0,4}(?:(?:maybe|perhaps|possibly|also|even|either|(?:it )?(?:is|may be|could be))\b[\s,:]{0,4}){0,4}/i;
const WORD = /\p{L}{2,}/u;
const NOTHING = /^(?:[\s*_`>$.,;∎■□-]|\\[[\]()])*$/;

/**
 * What the lines behind a value add to it: a line that begins with "or" or "and", and one that is nothing but another
 * value, which counts at once, or behind blank lines too where the first value stood on a line of its own.
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

/** Without dollar signs, which "Answer: $Answer" leads models to write one by one, and without bold type. */
const withoutMarks = (content: string): string =>
  content
    .replace(/(?<!\\)\$/g, "")
    .replace(OPENING, "")
    .replace(CLOSING, "")
    .trim();
