import { trim } from "./text.ts";

/**
 * Most digits of an integer: Python refuses to convert longer ones, because the time grows with the square of the
 * length.
 */
const MAX_DIGITS = 4300;
const INT = /^[+-]?\d+(?:_\d+)*$/;
const FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.?|(?:\d+(?:_\d+)*)?\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const WORD = /^([+-]?)(?:inf(?:inity)?|(nan))$/i;

/**
 * int(text): one sign, decimal digits of any script, single underscores between them, white space around. Undefined
 * if Python raises, also for "5.0" and "1,000".
 */
export function readInt(text: string): bigint | undefined {
  if (text.length > 2 * MAX_DIGITS) return undefined;
  const spelled = asciiDigits(trim(text));
  if (!INT.test(spelled)) return undefined;
  const digits = spelled.replace(/[+_]/g, "");
  return digits.length - Number(digits.startsWith("-")) > MAX_DIGITS ? undefined : BigInt(digits);
}

/** float(text); undefined where Python raises, and beyond 8,600 characters. */
export function readFloat(text: string): number | undefined {
  if (text.length > 2 * MAX_DIGITS) return undefined;
  const spelled = asciiDigits(trim(text));
  if (FLOAT.test(spelled)) return Number(spelled.replaceAll("_", ""));
  const word = WORD.exec(spelled);
  if (word === null) return undefined;
  if (word[2] !== undefined) return Number.NaN;
  return word[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Replaces every decimal digit by 0 to 9. Unicode has them in runs of ten that begin with zero. */
const asciiDigits = (text: string): string =>
  text.replace(/[^\P{Nd}0-9]/gu, (digit) => {
    let zero = digit.codePointAt(0)!;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String((digit.codePointAt(0)! - zero) % 10);
  });
