import { readString } from "./tokens.ts";

/** Largest nesting depth that is read; no constraint nests as deep. */
const MAX_DEPTH = 50;
const MAX_CHARS = 1 << 20;

const WORDS: ReadonlyMap<string, string> = new Map([
  ["None", "null"],
  ["True", "true"],
  ["False", "false"],
]);
const CLOSED_BY: ReadonlyMap<string, string> = new Map([
  ["[", "]"],
  ["(", ")"],
  ["{", "}"],
]);
const CLOSERS: ReadonlySet<string> = new Set(CLOSED_BY.values());
/** White space; a string; a word or number; one sign. */
const TOKEN =
  /[ \t\n\r\f]+|('[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'|"[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*")|([\w.+-]+)|([[\](){},:])/y;

/**
 * The value of a Python literal as repr() writes it, as the value of the equivalent JSON: None, booleans, numbers,
 * strings, lists, tuples (as lists) and dicts with string keys. For data sets of a hundred thousand rows: about ten
 * times as fast as readLiteral, which takes everything that ast.literal_eval does and agrees on every value. Throws
 * SyntaxError on anything else, on integers JavaScript cannot hold, and past 2^20 characters or 50 levels.
 * Source: Python language reference §2.4.
 */
export function parseRepr(text: string): unknown {
  if (text.length > MAX_CHARS) throw new SyntaxError(`a Python literal of ${text.length} characters`);
  return JSON.parse(jsonOf(text)) as unknown;
}

/** JSON if the text is a literal; otherwise invalid JSON text, or throws SyntaxError. */
function jsonOf(text: string): string {
  const json: string[] = [];
  const open: { readonly close: string; commas: number }[] = [];
  const token = new RegExp(TOKEN);
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const [, string, word, sign] = token.exec(text) ?? fault("no token", at);
    if (string !== undefined) json.push(textOf(string) ?? fault("a bad escape", at));
    else if (word !== undefined) json.push(WORDS.get(word) ?? numberOf(word) ?? fault("no value", at));
    else if (sign !== undefined) addSign(sign, json, open, at);
    if (open.length > MAX_DEPTH) fault(`more than ${MAX_DEPTH} levels`, at);
  }
  return json.join(" ");
}

function textOf(string: string): string | undefined {
  const read = readString(string);
  return read?.type === "str" ? JSON.stringify(read.value) : undefined;
}

function addSign(sign: string, json: string[], open: { close: string; commas: number }[], at: number): void {
  const display = open.at(-1);
  const close = CLOSED_BY.get(sign);
  if (close !== undefined) open.push({ close, commas: 0 });
  else if (sign === "," && display !== undefined) display.commas += 1;
  else if (CLOSERS.has(sign)) {
    if (open.pop()?.close !== sign) fault(`${sign} closes nothing`, at);
    // JSON allows no comma after the last item; in `[,]` there is no item before it.
    if (json.at(-1) === "," && json.at(-2) !== "[" && json.at(-2) !== "{") json.pop();
    const isEmpty = json.at(-1) === "[";
    if (sign === ")" && display?.commas === 0 && !isEmpty) fault("parentheses around one value", at);
  }
  json.push(sign === "(" ? "[" : sign === ")" ? "]" : sign);
}

/** A number in JSON syntax: no plus, no leading zeros, digits on both sides of a point. */
function numberOf(word: string): string | undefined {
  const [, sign, digits] = /^([+-]?)(.*)$/.exec(word)!;
  const minus = sign === "-" ? "-" : "";
  if (/^(?:0+|[1-9]\d*)$/.test(digits!)) {
    return Number.isSafeInteger(Number(digits)) ? minus + digits!.replace(/^0+(?=0)/, "") : undefined;
  }
  const float = /^(\d+(?=[.eE])|(?=\.\d))(?:\.(\d*))?((?:[eE][+-]?\d+)?)$/.exec(digits!);
  if (float === null) return undefined;
  const [, whole, part, power] = float;
  return `${minus}${(whole || "0").replace(/^0+(?=\d)/, "")}.${part || "0"}${power}`;
}

function fault(what: string, at: number): never {
  throw new SyntaxError(`${what} at character ${at} of a Python literal`);
}
