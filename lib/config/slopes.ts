import { z } from "zod";
import type { SlopesFunction } from "../custom-objective.ts";
import { ConfigError } from "../errors.ts";
import { isModulePlace } from "../user-module.ts";

import { checkExportName } from "./reward.ts";
import { hashAt, sourceHash } from "./source-hash.ts";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "it must be a hash, 64 hexadecimal digits");

/** A function of the entry script as recorded in run.json: its name and a hash of its source. */
const functionSchema = z.strictObject({ function: z.string().min(1), sha256 });
type WrittenFunction = z.output<typeof functionSchema>;

/** A module as recorded in run.json: its place, and a hash of its file. */
const moduleSchema = z.strictObject({
  module: z
    .string()
    .refine(isModulePlace, 'it must be a module by path: "./loss.ts", "./loss.ts#name"')
    .superRefine(checkExportName),
  sha256,
});
type Written = WrittenFunction | z.output<typeof moduleSchema>;

/** Schema of values that {@link takeSlopes} could not read as a place. */
const placeSchema = z
  .string()
  .refine(isModulePlace, 'it must be a function, or a module by path: "./loss.ts", "./loss.ts#name"')
  .refine((place) => !isModulePlace(place), "no such file relative to the working folder");

/**
 * The schema's `objective.slopes`: a recipe gives the function, or the place of a module that exports it;
 * {@link takeSlopes} replaces it by name or place, and hash.
 */
export const slopesSchema = z.union([functionSchema, moduleSchema, placeSchema]) as unknown as z.ZodType<
  Written,
  Written | SlopesFunction | string
>;

/** Key under which the recipe's placeholder of a function holds the function, in the process that received it. */
const FUNCTION = Symbol.for("hone.recipe.slopes");

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Replaces `objective.slopes` in a recipe's input by its JSON form: its name or module, and a hash. */
export function takeSlopes(input: unknown): { readonly plain: unknown; readonly slopes?: SlopesFunction } {
  if (!isFields(input) || !isFields(input["objective"])) return { plain: input };
  const { objective } = input;
  const given = objective["slopes"];
  const inPlace = (written: Written) => ({ ...input, objective: { ...objective, slopes: written } });
  if (typeof given === "string") {
    const found = hashAt(given);
    return { plain: found === undefined ? input : inPlace({ module: given, sha256: found }) };
  }
  const known = isFields(given) ? (given as { [FUNCTION]?: SlopesFunction })[FUNCTION] : undefined;
  const slopes = typeof given === "function" ? (given as SlopesFunction) : known;
  if (slopes === undefined) return { plain: input };
  const sha256 = sourceHash(slopes, ...(slopes.firstPass ? [slopes.firstPass] : []));
  return { plain: inPlace({ function: slopes.name || "anonymous", sha256 }), slopes };
}

/** Attaches the function to a recipe's `objective.slopes`. */
export function keepSlopes(written: object | undefined, slopes: SlopesFunction | undefined): void {
  if (written !== undefined && slopes !== undefined) {
    Object.defineProperty(written, FUNCTION, { value: slopes });
  }
}

/** The function of a recipe's objective; undefined for a recipe without one, of a module, or read from a file of JSON. */
export function slopesFunction(objective: {
  readonly slopes?: object | undefined;
}): SlopesFunction | undefined {
  return (objective.slopes as { [FUNCTION]?: SlopesFunction } | undefined)?.[FUNCTION];
}

/**
 * Gives a recipe read from a run folder the function of the entry script's recipe. Throws ConfigError unless
 * it is the function that the run used.
 * @param where the run folder, for the message
 */
export function adoptSlopes(
  recorded: { readonly slopes?: Written | undefined },
  from: { readonly slopes?: Written | undefined },
  where: string,
): void {
  const slopes = slopesFunction(from);
  if (recorded.slopes === undefined || slopes === undefined) return;
  if (recorded.slopes.sha256 !== from.slopes!.sha256) {
    const [was, is] = [recorded.slopes, from.slopes!].map((written) =>
      "function" in written ? written.function : written.module,
    );
    const message = `is ${is} with hash ${from.slopes!.sha256}; the run in ${where} was trained with ${was}, hash ${recorded.slopes.sha256}`;
    throw new ConfigError("the objective's function differs from the run's", [
      { path: "objective.slopes", message },
    ]);
  }
  keepSlopes(recorded.slopes, slopes);
}
