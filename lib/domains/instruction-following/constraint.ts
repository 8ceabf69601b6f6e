import type { z } from "zod";
import type { ResponseText } from "./text/response-text.ts";

/** True if a response follows one constraint. Pure, never throws, time linear in the response. */
export type Check = (response: ResponseText) => boolean;

/** One kind of constraint: reads its arguments and creates the check. */
export interface Constraint {
  /**
   * Creates the check for one row's arguments; ignores unknown names; null arguments are already removed. Throws
   * ZodError for arguments that are missing, zero where a count is required, or of another type: such a row cannot be
   * graded (reference implementations draw random values for it).
   */
  bind(args: Readonly<Record<string, unknown>>): Check;
  /** Creates the check as the published checkers perform it, their bugs included. */
  bindAsReference(args: Readonly<Record<string, unknown>>): Check;
  /**
   * Set if strict judging requires the response to equal a text of the row exactly; it may then lack words if that
   * text lacks them.
   */
  readonly verbatim?: true;
}

/** Maps a constraint's id, as rows name it ("keywords:existence"), to its kind. */
export type ConstraintTable = Readonly<Record<string, Constraint>>;

/**
 * Builds a constraint from a zod schema of its arguments and a function that turns them into a check; optionally
 * another check if the published checker judges differently. Expensive setup (a pattern, a normalised phrase) is done
 * once, outside the check.
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

/** Makes strict judge the response exactly as written; see `verbatim`. */
export const verbatim = (kind: Constraint): Constraint => ({ ...kind, verbatim: true });
