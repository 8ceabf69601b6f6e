import { readFloat, readInt } from "../../python/number.ts";
import { float, int, type PythonValue, str } from "../../python/value.ts";

/**
 * Longer values stay text: values in the data have a few hundred characters, and some of the patterns are not
 * linear.
 */
export const MAX_CONVERTED_CHARS = 4000;

export const INTEGER = /^-?\d+$/;

export const integer = (digits: string): PythonValue => int(BigInt(digits));

/** The result of Python's int() or else float() of a text, or the text itself. */
export function numberOrText(text: string): PythonValue {
  const whole = readInt(text);
  if (whole !== undefined) return int(whole);
  const number = readFloat(text);
  return number === undefined ? str(text) : float(number);
}

/** Splits a text at every comma, nested or not, and trims the parts. */
export const commaParts = (text: string): string[] => text.split(",").map((part) => part.trim());

/** Text from `start` up to the first of these closing marks on the same line; undefined if there is none. */
export function upTo(text: string, start: number, end: string): string | undefined {
  const close = text.indexOf(end, start);
  const found = close < 0 ? undefined : text.slice(start, close);
  return found?.includes("\n") ? undefined : found;
}
