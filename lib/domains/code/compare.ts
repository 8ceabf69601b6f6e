import { fields, trim } from "../../python/text.ts";
import {
  equals,
  hashKey,
  type PythonDict,
  type PythonSequence,
  type PythonValue,
} from "../../python/value.ts";

/**
 * True if a program's output equals the expected one: the same lines, ignoring blanks at their ends, or lines of
 * numbers that are equal as decimals (1.0 = 1.00, 1e2 = 100). Case-sensitive; no tolerance. Linear in both texts.
 * Source: PipelineRL, domains/coding.
 */
export function outputsMatch(actual: string, expected: string): boolean {
  const [left, right] = [lines(actual), lines(expected)];
  return (
    left.length === right.length && left.every((line, i) => line === right[i] || sameNumbers(line, right[i]!))
  );
}

const lines = (text: string): string[] => trim(text).split("\n").map(trim);

function sameNumbers(left: string, right: string): boolean {
  const [a, b] = [fields(left), fields(right)];
  return (
    a.length === b.length &&
    a.length > 0 &&
    a.every((token, i) => {
      const number = decimal(token);
      return number !== undefined && number !== "nan" && number === decimal(b[i]!);
    })
  );
}

const DECIMAL = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,18}))?$/;
const SPECIAL = /^([+-]?)(?:(inf(?:inity)?)|s?nan\d*)$/i;

/** A canonical text of a decimal number ("nan" for one that equals nothing); undefined for text that is not a number. */
export function decimal(token: string): string | undefined {
  const text = token.replaceAll("_", "");
  const special = SPECIAL.exec(text);
  if (special) return special[2] === undefined ? "nan" : `${special[1] === "-" ? "-" : ""}inf`;
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, sign, whole = "", behind, alone, exponent = "0"] = match;
  const fraction = behind ?? alone ?? "";
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === "0") start++;
  while (end > start && digits[end - 1] === "0") end--;
  if (start === end) return "0";
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - end);
  return `${sign === "-" ? "-" : ""}${digits.slice(start, end)}e${power}`;
}

/**
 * True if a call returned the expected value, compared as exactly as JSON allows: numbers by exact value, an int
 * equal to a float of that value, but True and False equal only themselves; tuples equal lists at any depth; int keys
 * of a dict equal their text.
 */
export function sameValue(actual: PythonValue, expected: PythonValue): boolean {
  if (isSequence(actual) && isSequence(expected)) {
    const [a, b] = [actual.items, expected.items];
    return a.length === b.length && a.every((item, i) => sameValue(item, b[i]!));
  }
  if (actual.type === "dict") return expected.type === "dict" && sameEntries(actual, expected);
  if (isNumber(actual) ? !isNumber(expected) : actual.type !== expected.type) return false;
  return equals(actual, expected);
}

const isSequence = (value: PythonValue): value is PythonSequence =>
  value.type === "list" || value.type === "tuple";
const isNumber = (value: PythonValue) => value.type === "int" || value.type === "float";

function sameEntries(actual: PythonDict, expected: PythonDict): boolean {
  const wanted = new Map(expected.entries.map(([key, value]) => [keyText(key), value]));
  const found = new Map(actual.entries.map(([key, value]) => [keyText(key), value]));
  if (found.size !== actual.entries.length || found.size !== wanted.size) return false;
  return [...found].every(([key, value]) => {
    const other = wanted.get(key);
    return key !== undefined && other !== undefined && sameValue(value, other);
  });
}

/** The text by which dict keys are compared, so that the keys `1` and "1" are equal; undefined for keys of other types. */
function keyText(key: PythonValue): string | undefined {
  if (key.type === "int") return `s${key.value}`;
  return key.type === "bool" ? `bool ${key.value}` : hashKey(key);
}
