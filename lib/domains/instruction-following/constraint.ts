import type { z } from "zod";
import type { ResponseText } from "./text/response-text.ts";

/** Whether a response follows one constraint. Pure, never throws, time linear in the response. */
export type Check = (response: ResponseText) => boolean;

/** One kind of constraint: reads its arguments and makes the check. */
export interface Constraint {
  /**
   * The check for one row's arguments; unknown names among them are ignored, null ones are already gone.
   * Throws ZodError on arguments that are missing, zero where a count is meant, or of another type: such a row cannot
   * be graded (reference implementations draw random values for it).
   */
  bind(args: Readonly<Record<string, unknown>>): Check;
  /** The check of the published checkers, their bugs included. */
  bindAsReference(args: Readonly<Record<string, unknown>>): Check;
  /** Strict: the response must equal a text of the row to the character, so it may have no word if that text has none. */
  readonly verbatim?: true;
}

/** Constraint id, as rows name it ("keywords:existence"), to its kind. */
export type ConstraintTable = Readonly<Record<string, Constraint>>;

/**
 * A constraint from a zod schema of its arguments and a function that turns them into a check; another one where the
 * published checker judges otherwise. Whatever costs time (a pattern, a normalised phrase) is made once, outside the
 * check.
 */
export function constraint<S extends z.ZodType>(
  schema: S,
  make: (args: z.output<S>) => Check,
  makeAsReference = make,
): Constraint {
  return {
    bind: (args) => make(schema.parse(args)),
    bindAsReference: (args) => makeAsReference(schema.parse(args)),
  };
}

/** The constraint, judged by strict on the response as it is written: see `verbatim`. */
export const verbatim = (kind: Constraint): Constraint => ({ ...kind, verbatim: true });
