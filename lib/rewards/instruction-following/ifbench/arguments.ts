import { z } from "zod";

/** A number of things, zero allowed where "none" can be asked for. Rows write whole numbers as 5 or 5.0. */
export const amount = z.number().int().nonnegative();
/** A position counted from one, or a period. */
export const ordinal = z.number().int().positive();
/** Per cent of something. */
export const percentage = z.number().nonnegative();
/** Text that says something. */
export const phrase = z.string().refine((text) => text.trim() !== "", "must not be blank");
/** A word to look for, without the white space that some rows have around it. */
export const keyword = phrase.transform((text) => text.trim());
/** For constraints that take no arguments. */
export const none = z.object({});
