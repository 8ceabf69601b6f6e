import type { PythonValue } from "../python/value.ts";
import { str } from "../python/value.ts";
import type { Compat } from "../verify-case.ts";

const IGNORED = /[ ,./\-_*^]/g;
/** A number with its sign and point, spaces and thousands commas apart. */
const NUMBER = /^\s*([+-]?)\s*((?:\d[\d,]*)?\.?\d+)\s*$/;

/**
 * A text as texts are compared: without ` ,./-_*^`, in lower case, single quotes as double ones. So "April 1, 2024"
 * is "april 1 2024", but also "3.5" is "35" and "-5" is "5"; strict keeps sign and point of texts that are numbers.
 */
export function standardize(text: string, compat: Compat): string {
  const number = compat === "strict" ? NUMBER.exec(text) : null;
  if (number !== null) return (number[1] === "-" ? "-" : "") + number[2]!.replaceAll(",", "");
  return text.replace(IGNORED, "").toLowerCase().replaceAll("'", '"');
}

/** A text in standard form, any other value as it is. */
export function standardizeValue(value: PythonValue, compat: Compat): PythonValue {
  return value.type === "str" ? str(standardize(value.value, compat)) : value;
}
