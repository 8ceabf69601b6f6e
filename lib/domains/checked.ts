import type { z } from "zod";
import { HoneError } from "../errors.ts";

/**
 * Checks a value from outside by a schema. Throws HONE_ERR_DATA that begins with `what` and names the first wrong
 * field, or `whole` if all of the value is wrong.
 */
export function checked<T>(schema: z.ZodType<T>, raw: unknown, what: string, whole: string): T {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HoneError("HONE_ERR_DATA", `${what}: ${issue?.path.join(".") || whole}: ${issue?.message}`);
}

/** Checks the reference of a problem, for the verifier of that name. @param shape "{ answer, choices }" */
export function checkedReference<T>(schema: z.ZodType<T>, raw: unknown, verifier: string, shape: string): T {
  return checked(schema, raw, `${verifier}: the reference is not ${shape}`, "reference");
}
