import type { PythonValue } from "../../python/value.ts";
import { str } from "../../python/value.ts";
import type { Compat } from "../verify-case.ts";

const IGNORED = /[ ,./\-_*^]/g;

/**
 * A text as the reference compares texts: without ` ,./-_*^`, in lower case, single quotes as double ones. So "April 1,
 * 2024" is "april 1 2024", but also "a/b" is "a*b" and "-5" is "5". Strict compares texts as they are.
 */
export function standardize(text: string, compat: Compat): string {
  if (compat === "strict") return text;
  return text.replace(IGNORED, "").toLowerCase().replaceAll("'", '"');
}

/** A text in standard form, any other value as it is. */
export function standardizeValue(value: PythonValue, compat: Compat): PythonValue {
  return value.type === "str" ? str(standardize(value.value, compat)) : value;
}
