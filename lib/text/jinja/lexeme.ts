/** Reads one token of an expression. Source: jinja2/lexer.py of Jinja 3.1. */
import { matchAt } from "./match.ts";

/** A token inside a tag: its value without quotes, escapes and digit separators, and its length in the template. */
export interface Lexeme {
  readonly kind: "float" | "integer" | "name" | "string" | "operator";
  readonly value: string;
  readonly length: number;
}

const FLOAT = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?[eE][+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/y;
const INTEGER = /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|\d(?:_?\d)*/y;
const NAME = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*/uy;
const STRING = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/sy;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
/**
 * Kinds of lexeme in the order in which they are tried: float before integer, since a float begins like an integer.
 */
const KINDS = [
  ["float", FLOAT],
  ["integer", INTEGER],
  ["name", NAME],
  ["string", STRING],
  ["operator", OPERATOR],
] as const;

/** The token that begins at this position; undefined if none does. */
export function lexemeAt(source: string, at: number): Lexeme | undefined {
  for (const [kind, pattern] of KINDS) {
    const found = matchAt(pattern, source, at);
    if (found !== undefined) return { kind, value: plain(kind, found), length: found.length };
  }
  return undefined;
}

function plain(kind: Lexeme["kind"], text: string): string {
  if (kind === "string") return unescaped(text.slice(1, -1));
  return kind === "name" ? text : text.replace(/_/g, "");
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Value of a string literal with Python's escapes; keeps unknown ones unchanged. */
function unescaped(text: string): string {
  const escapes = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|(.))/gs;
  return text.replace(escapes, (all, x?: string, u?: string, long?: string, octal?: string, c?: string) => {
    const hex = x ?? u ?? long;
    if (hex !== undefined) return codePoint(Number.parseInt(hex, 16)) ?? all;
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    return ESCAPES[c!] ?? all;
  });
}

const codePoint = (code: number): string | undefined =>
  code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
