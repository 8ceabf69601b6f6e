import { HoneError } from "../errors.ts";

/** Bytes [start, end) of one value in its text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LIST = 0x5b;
/** Role of a byte outside strings: +1 opens, -1 closes, 2 is a quote, 3 a comma, 0 none. */
const ROLE = new Int8Array(256);
for (const [byte, role] of Object.entries({ 91: 1, 123: 1, 93: -1, 125: -1, 34: 2, 44: 3 })) {
  ROLE[Number(byte)] = role;
}

/** No data set nests deeper than this; deeper input is refused, since it could overflow the stack of a recursive parser. */
const MAX_DEPTH = 1000;

/**
 * Positions of the elements of a JSON array in UTF-8 text, which may be longer than the longest string. Scans only
 * strings, brackets and commas: each span is parsed separately, so that a bad one fails alone. Throws HONE_ERR_DATA
 * if the text is not an array, ends inside it, or continues after it.
 */
export function* elementSpans(text: Uint8Array): Generator<Span> {
  const open = skipSpace(text, 0);
  if (text[open] !== LIST) throw new HoneError("HONE_ERR_DATA", "not a JSON array");
  let depth = 0;
  let start = open + 1;
  for (let at = open; at < text.length; at++) {
    const role = ROLE[text[at]!]!;
    if (role === 2) at = endOfString(text, at);
    else if (role === 1) {
      depth += 1;
      if (depth > MAX_DEPTH) throw new HoneError("HONE_ERR_DATA", `JSON nested deeper than ${MAX_DEPTH}`);
    } else if (role === -1) {
      depth -= 1;
      if (depth > 0) continue;
      const last = trim(text, start, at);
      if (last.end > last.start) yield last;
      else if (start > open + 1)
        throw new HoneError("HONE_ERR_DATA", "JSON in which no value follows a comma");
      if (skipSpace(text, at + 1) === text.length) return;
      throw new HoneError("HONE_ERR_DATA", `JSON with further text after its end, at byte ${at + 1}`);
    } else if (role === 3 && depth === 1) {
      yield trim(text, start, at);
      start = at + 1;
    }
  }
  throw new HoneError("HONE_ERR_DATA", "JSON that is cut off");
}

/** Position of the closing quote; the text's length if there is none. */
function endOfString(text: Uint8Array, open: number): number {
  let at = open + 1;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

const isSpace = (byte: number | undefined) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export function skipSpace(text: Uint8Array, from: number): number {
  let at = from;
  while (isSpace(text[at])) at += 1;
  return at;
}

function trim(text: Uint8Array, from: number, to: number): Span {
  const start = skipSpace(text, from);
  let end = to;
  while (end > start && isSpace(text[end - 1])) end -= 1;
  return { start: Math.min(start, end), end };
}
