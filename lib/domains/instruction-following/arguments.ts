import { z } from "zod";
import { isWordless } from "../blank.ts";

/** A required count; rows may ask for zero. */
export const amount = z.int().nonnegative();
/** A count or 1-based position; the published checkers treat zero as "not given". */
export const ordinal = z.int().positive();
/** A text that is not blank. */
export const phrase = z.string().refine((text) => text.trim() !== "", "must not be blank");
/** A phrase without the surrounding white space that some rows have. */
export const trimmed = phrase.transform((text) => text.trim());
export const noArguments = z.object({});

/** The comparisons that a constraint may name. */
export const relation = z.enum(["at least", "less than"]);
export type Relation = z.output<typeof relation>;

/** Compares the number of parts. For "at least" parts without a visible word do not count; for "less than" they do. */
export const compareWritten = (parts: readonly string[], how: Relation, bound: number): boolean =>
  compare(how === "at least" ? parts.filter((part) => !isWordless(part)).length : parts.length, how, bound);

export const compare = (count: number, how: Relation, bound: number): boolean =>
  how === "at least" ? count >= bound : count < bound;
