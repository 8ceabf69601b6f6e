import type { z } from "zod";
import { HoneError } from "../errors.ts";

/**
 * A value from outside that a schema takes. Throws HONE_ERR_DATA that begins with `what` and names the first field that
 * is wrong, or `whole` where it is all of it.
 */
export function checked<T>(schema: z.ZodType<T>, raw: unknown, what: string, whole: string): T {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HoneError("HONE_ERR_DATA", `${what}: ${issue?.path.join(".") || whole}: ${issue?.message}`);
}

/** The reference of a problem, for the verifier of that name. @param shape "{ answer, choices }" */
export function checkedReference<T>(schema: z.ZodType<T>, raw: unknown, verifier: string, shape: string): T {
  return checked(schema, raw, `${verifier}: the reference is not ${shape}`, "reference");
}
