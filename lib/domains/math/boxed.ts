/** The marker that counts as an answer: exactly these characters. */
const BOX = "\\boxed{";

/** Longest text from the last box to the end of the completion, in code points. */
export const MAX_TAIL = 1000;

export type Tail =
  | { readonly status: "found"; readonly text: string }
  | { readonly status: "no_answer"; readonly reason: string }
  | { readonly status: "unparsable"; readonly reason: string };

/** The completion from its last `\boxed{` on; a verdict if there is no box or too much text follows it. */
export function lastBox(completion: string): Tail {
  const start = completion.lastIndexOf(BOX);
  if (start < 0) return { status: "no_answer", reason: "no \\boxed{}" };
  const length = completion.length - start;
  if (length > 2 * MAX_TAIL || (length > MAX_TAIL && [...completion.slice(start)].length > MAX_TAIL)) {
    return { status: "unparsable", reason: `more than ${MAX_TAIL} characters from \\boxed{ to the end` };
  }
  const text = completion.slice(start);
  if (text.includes("\\boxed{}")) return { status: "unparsable", reason: "empty \\boxed{}" };
  return { status: "found", text };
}

export interface BoxContent {
  readonly text: string;
  /** False when the box never closes: the text then runs on, with its opening brace, to the last brace. */
  readonly closed: boolean;
}

/** The content of a box at the start of the text; undefined if its brace is never closed. */
export function boxContent(tail: string): BoxContent | undefined {
  const open = BOX.length - 1;
  const close = closingBrace(tail, open, tail.length);
  if (close !== undefined) return { text: tail.slice(open + 1, close).trim(), closed: true };
  const last = tail.lastIndexOf("}");
  return last > open ? { text: tail.slice(open, last + 1), closed: false } : undefined;
}

/** Boxes at most this far apart belong to the same answer; those of a list may be further apart, up to the second distance. */
const ADJACENT_CHARS = 10;
const LISTED_CHARS = 70;
const SEPARATOR = /\b(?:and|or)\b|[,;]/;

/**
 * The contents of `\boxed{}` and `\fbox{}` in a text, joined by commas; the text itself if it has none. `every` takes
 * all boxes, otherwise the last one and those adjacent before it. Equal neighbours count once.
 */
export function boxContents(text: string, every: boolean): string {
  const found: string[] = [];
  let end = text.length;
  let nextStart: number | undefined;
  for (;;) {
    const start = Math.max(text.lastIndexOf("\\boxed", end - 1), text.lastIndexOf("\\fbox", end - 1));
    if (start < 0 || end === 0) break;
    let open = start + (text.startsWith("\\boxed", start) ? 6 : 5);
    while (open < end && /\s/.test(text[open]!)) open++;
    if (open >= end) break;
    const close = text[open] === "{" ? closingBrace(text, open, end) : undefined;
    if (close === undefined) {
      if (found.length === 0) found.push(text.slice(open));
      break;
    }
    const content = text.slice(open + 1, close).trim();
    if (
      !every &&
      nextStart !== undefined &&
      !leadsTo(text.slice(close + 1, nextStart), content, found.at(-1)!)
    )
      break;
    if (found.at(-1) !== content) found.push(content);
    nextStart = start;
    end = start;
  }
  return found.length === 0 ? text : found.reverse().join(",");
}

function closingBrace(text: string, open: number, end: number): number | undefined {
  let depth = 0;
  for (let i = open; i < end; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  return undefined;
}

const leadsTo = (between: string, content: string, next: string): boolean =>
  between.length < ADJACENT_CHARS ||
  (content !== next && between.length < LISTED_CHARS && SEPARATOR.test(between));
