import { z } from "zod";
import type { SlopesFunction } from "../custom-objective.ts";
import { ConfigError } from "../errors.ts";
import { sourceHash } from "./source-hash.ts";

/** A function of the entry script as run.json keeps it: by name and a hash of its source. */
const writtenSchema = z.strictObject({
  function: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "it must be a hash of the function's source"),
});
type Written = z.output<typeof writtenSchema>;

/** The schema's `objective.slopes`: people give the function, {@link takeSlopes} puts its name and hash in its place. */
export const slopesSchema = writtenSchema as unknown as z.ZodType<Written, Written | SlopesFunction>;

/** On what stands in a recipe for a function: the function, in the process that was given it. */
const FUNCTION = Symbol.for("hone.recipe.slopes");

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A recipe's input with the name and hash of `objective.slopes` in the function's place, which JSON cannot hold. */
export function takeSlopes(input: unknown): { readonly plain: unknown; readonly slopes?: SlopesFunction } {
  const given = isFields(input) && isFields(input["objective"]) ? input["objective"]["slopes"] : undefined;
  const known = isFields(given) ? (given as { [FUNCTION]?: SlopesFunction })[FUNCTION] : undefined;
  const slopes = typeof given === "function" ? (given as SlopesFunction) : known;
  if (slopes === undefined || !isFields(input)) return { plain: input };
  const written: Written = { function: slopes.name || "anonymous", sha256: sourceHash(slopes) };
  return { plain: { ...input, objective: { ...(input["objective"] as Fields), slopes: written } }, slopes };
}

/** Lets a recipe's `objective.slopes` know its function. */
export function keepSlopes(written: object | undefined, slopes: SlopesFunction | undefined): void {
  if (written !== undefined && slopes !== undefined) {
    Object.defineProperty(written, FUNCTION, { value: slopes });
  }
}

/** The function of a recipe's objective; undefined for a recipe without one, or read from a file of JSON. */
export function slopesFunction(objective: {
  readonly slopes?: object | undefined;
}): SlopesFunction | undefined {
  return (objective.slopes as { [FUNCTION]?: SlopesFunction } | undefined)?.[FUNCTION];
}

/**
 * Gives a recipe that was read from a run folder the function that its run had, from the recipe of the entry script.
 * Throws ConfigError where that one has another.
 * @param where the run folder, for the message.
 */
export function adoptSlopes(
  recorded: { readonly slopes?: Written | undefined },
  from: { readonly slopes?: Written | undefined },
  where: string,
): void {
  const slopes = slopesFunction(from);
  if (recorded.slopes === undefined || slopes === undefined) return;
  if (recorded.slopes.sha256 !== from.slopes!.sha256) {
    const message = `is ${from.slopes!.function} with hash ${from.slopes!.sha256}; the run in ${where} was trained with ${recorded.slopes.function}, hash ${recorded.slopes.sha256}`;
    throw new ConfigError("the objective's function is not the run's", [
      { path: "objective.slopes", message },
    ]);
  }
  keepSlopes(recorded.slopes, slopes);
}
