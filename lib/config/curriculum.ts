import { z } from "zod";
import type { HashedModule } from "../hashed-module.ts";
import { isModulePlace } from "../user-module.ts";
import { inPlayed } from "./environment.ts";
import { count, fraction, positive } from "./numbers.ts";
import { checkExportName } from "./reward.ts";
import { hashAt } from "./source-hash.ts";

const MOST_STEPS = 2 ** 31 - 1;
const steps = () => count(MOST_STEPS);

/** A module's place and the hash of its file, which `hashedWeights` adds to the place in a recipe. */
const weightSchema = z
  .strictObject({
    module: z
      .string()
      .refine(isModulePlace, 'it must be a module by path or file URL: "./weights.ts", "./weights.ts#mine"')
      .superRefine(checkExportName),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, "it must be a hash of the file")
      .optional(),
  })
  .superRefine(({ sha256 }, check) => {
    if (sha256 !== undefined) return;
    const message = `no such file relative to the working folder, ${process.cwd()}`;
    check.addIssue({ code: "custom", path: ["module"], message });
  }) as unknown as z.ZodType<HashedModule, string | HashedModule>;

/**
 * Selects the next problems of a domain (docs/how-to/curriculum.md): draws each in proportion to its weight, the
 * product of the weights that the fields give. The sampler still selects the domain.
 */
export const curriculumSchema = z
  .strictObject({
    /** Weight of the newest group in a problem's solve rate s, an exponential average. */
    smoothing: positive(1).default(0.5),
    /** Weight 4 s (1 - s), at least `floor`; 1 before the first group. */
    solveRate: z.strictObject({ floor: fraction().default(0.05) }).optional(),
    /**
     * Gives a problem weight 0 if its solve rate is outside [low, high], for `again` steps after the problem's last
     * group; then it may be drawn again.
     */
    window: z
      .tuple([fraction(), fraction()])
      .refine(([low, high]) => low < high, "it is [lowest, highest], and the first must be below the second")
      .optional(),
    /** Steps until a problem outside the window may be drawn again; or separate numbers for problems below and above it. */
    again: z.union([steps(), z.strictObject({ unsolved: steps(), solved: steps() })]).default(50),
    /**
     * Draws easy problems first, by a number of their row: the easiest fraction `from` at step 0, all from
     * `steps` on.
     */
    difficulty: z
      .strictObject({
        /** Column of the row; without it the level that its source gives. */
        column: z.string().min(1).optional(),
        from: positive(1).default(0.25),
        steps: steps(),
      })
      .optional(),
    /** A function of the user's that returns a weight. */
    weight: weightSchema.optional(),
  })
  .refine(
    ({ solveRate, window, difficulty, weight }) =>
      [solveRate, window, difficulty, weight].some((one) => one !== undefined),
    "it has no rule for choosing problems: give solveRate, window, difficulty or weight",
  )
  .optional();

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Adds to a recipe's input, beside every module of a curriculum, the hash of the module's file. */
export function hashedWeights(input: unknown): unknown {
  return inPlayed(input, (_, one) => {
    const { curriculum } = one;
    if (!isFields(curriculum) || typeof curriculum["weight"] !== "string") return one;
    const module = curriculum["weight"];
    const sha256 = hashAt(module);
    const weight = { module, ...(sha256 !== undefined && { sha256 }) };
    return { ...one, curriculum: { ...curriculum, weight } };
  });
}
