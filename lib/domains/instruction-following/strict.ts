import { isBlank, isWordless } from "../blank.ts";
import { finalResponse } from "../final-response.ts";
import type { Check, Constraint } from "./constraint.ts";
import type { Rules } from "./judging.ts";
import { shownText } from "./text/shown-text.ts";

/**
 * Judges constraints for training: on the text that a reader sees after the thought, with the checkers' exploits
 * closed. A response without a visible word follows no constraint.
 */
export const STRICT: Rules = {
  responseOf: finalResponse,
  isEmpty: isBlank,
  bind,
};

function bind(kind: Constraint, args: Readonly<Record<string, unknown>>): Check {
  if (kind.verbatim) return kind.bind(args);
  const check = kind.bind(shownArguments(args));
  return ({ shown }) => !isWordless(shown.raw) && check(shown);
}

/** The arguments, with their texts converted like the response (shownText), so that the two can be compared. */
function shownArguments(args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, shownValue(value)]));
}

function shownValue(value: unknown): unknown {
  if (typeof value === "string") return shownText(value);
  return Array.isArray(value) ? value.map(shownValue) : value;
}
