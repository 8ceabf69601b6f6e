import type { PythonValue } from "./value.ts";

const INTEGER =
  /^(?:0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?0)*|[1-9](?:_?[0-9])*)$/;
const POINT_FLOAT = /^(?:[0-9](?:_?[0-9])*)?\.[0-9](?:_?[0-9])*(?:[eE][+-]?[0-9](?:_?[0-9])*)?$/;
const EXPONENT_FLOAT = /^[0-9](?:_?[0-9])*\.?[eE][+-]?[0-9](?:_?[0-9])*$/;
const DIGITS_AND_POINT = /^[0-9](?:_?[0-9])*\.?$/;
/**
 * Most digits of a decimal integer: Python refuses to convert longer ones, because the time grows with the square of
 * the length.
 */
const MAX_DECIMAL_DIGITS = 4300;

/** The value of an unsigned number as Python spells it, or undefined: `007`, `1__0`, a decimal int of over 4,300 digits. */
export function readNumber(text: string): PythonValue | undefined {
  const digits = text.replaceAll("_", "");
  if (INTEGER.test(text)) {
    const isDecimal = !/^0[xXoObB]/.test(text);
    if (isDecimal && digits.length > MAX_DECIMAL_DIGITS) return undefined;
    return { type: "int", value: BigInt(digits) };
  }
  if (/[jJ]$/.test(text)) {
    const size = text.slice(0, -1);
    const imaginary = Number(digits.slice(0, -1));
    return isFloat(size) || DIGITS_AND_POINT.test(size) ? { type: "complex", real: 0, imaginary } : undefined;
  }
  return isFloat(text) ? { type: "float", value: Number(digits) } : undefined;
}

const isFloat = (text: string): boolean =>
  POINT_FLOAT.test(text) || EXPONENT_FLOAT.test(text) || (text.endsWith(".") && DIGITS_AND_POINT.test(text));

/** The value of one string literal with its prefix and quotes; undefined for f-strings, bad escapes, `\N{...}`. */
export function readString(text: string): PythonValue | undefined {
  const match = /^([a-zA-Z]{0,2})('''|"""|'|")/.exec(text);
  if (!match) return undefined;
  const [whole, letters, quote] = match as unknown as [string, string, string];
  const prefix = letters.toLowerCase();
  if (!["", "u", "r", "b", "br", "rb"].includes(prefix)) return undefined;
  if (text.length < whole.length + quote.length || !text.endsWith(quote)) return undefined;
  const type = prefix.includes("b") ? "bytes" : "str";
  const body = text.slice(whole.length, text.length - quote.length);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes literals are ASCII, control characters and all
  if (type === "bytes" && !/^[\x00-\x7f]*$/.test(body)) return undefined;
  const value = prefix.includes("r") ? body : unescaped(body, type);
  return value === undefined ? undefined : { type, value };
}

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ["\n", ""],
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

/** Evaluates escapes of a str or bytes literal; leaves unknown ones unchanged. */
function unescaped(body: string, type: "str" | "bytes"): string | undefined {
  if (!body.includes("\\")) return body;
  let whole = true;
  const text = body.replace(/\\(?:([0-7]{1,3})|([xuUN])([0-9a-fA-F]{0,8})|([\s\S]))/g, (...found) => {
    const [written, octal, kind, hex, other] = found as string[];
    if (octal !== undefined) return String.fromCharCode(octalCode(octal, type));
    if (other !== undefined) return SIMPLE.get(other) ?? written!;
    if (type === "bytes" && kind !== "x") return written!;
    const width = { x: 2, u: 4, U: 8, N: Number.POSITIVE_INFINITY }[kind as "x" | "u" | "U" | "N"];
    const code = Number.parseInt(hex!.slice(0, width), 16);
    if (hex!.length < width || code > 0x10ffff) whole = false;
    return whole ? String.fromCodePoint(code) + hex!.slice(width) : "";
  });
  return whole ? text : undefined;
}

function octalCode(octal: string, type: "str" | "bytes"): number {
  const code = Number.parseInt(octal, 8);
  return type === "bytes" ? code & 0xff : code;
}
