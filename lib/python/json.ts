import { type JsonMaker, readJsonText } from "../shared/text/json-text.ts";
import { bool, dict, float, int, list, NONE, type PythonValue, str } from "./value.ts";

/** Deeper nesting is not read; CPython's reader gives up at about twice this depth. */
const MAX_DEPTH = 500;
const MAX_DIGITS = 4300;

/** Python's dialect: JSON's grammar plus the three floats that JSON cannot represent. */
const PYTHON: JsonMaker<PythonValue> = {
  constant: (value) => (value === null ? NONE : bool(value)),
  number: (digits, isInteger) => (isInteger ? integer(digits) : float(Number(digits))),
  string: str,
  list,
  object: (members) => dict(members.map(([key, value]) => [str(key), value]))!,
  words: new Map([
    ["NaN", float(Number.NaN)],
    ["Infinity", float(Number.POSITIVE_INFINITY)],
    ["-Infinity", float(Number.NEGATIVE_INFINITY)],
  ]),
  maxDepth: MAX_DEPTH,
};

/**
 * The value of a JSON text as Python's json.loads reads it, or undefined: `1` is an int and `1.0` a float, ints are
 * exact (up to 4,300 digits), NaN and Infinity are numbers, of equal keys the last value wins. Keys are never
 * looked up in an object, so none is special. Linear in the text; at most 500 levels.
 * Source: Python 3.11, module json.
 */
export function readJson(text: string): PythonValue | undefined {
  try {
    return readJsonText(text, PYTHON);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function integer(digits: string): PythonValue {
  const count = digits.length - Number(digits.startsWith("-"));
  if (count > MAX_DIGITS) throw new SyntaxError(`an integer of ${count} digits`);
  return int(BigInt(digits));
}
