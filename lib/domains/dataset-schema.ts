import { z } from "zod";

/**
 * A published data set as the source of a domain; lib/domains/ has one reader a kind, docs/data.md what each keeps.
 */

const names = () => z.array(z.string().min(1)).min(1).optional();
const date = () => z.iso.date().optional();

const common = {
  /** A file, a folder with everything below it, or a list of those; .json, .jsonl (also .gz) or .parquet. */
  path: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  /** Of a folder, the files whose name begins with this: "train". */
  split: z.string().min(1).optional(),
  /** What the policy is asked; {task} stands for the row's text. */
  template: z.string().includes("{task}").optional(),
  /** A file of `hone data check --drops`: its rows are left out. */
  drops: z.string().min(1).optional(),
};

export const datasetSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("jsonl"),
    ...common,
    /** Default: what the recipe calls the domain. */
    domain: z.string().min(1).optional(),
    /** Who judges the rows; default: the verifier called like the domain. */
    verifier: z.string().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal("open-reasoner-zero"), ...common }),
  z.strictObject({
    kind: z.literal("taco"),
    ...common,
    /** Default: HARD and VERY_HARD. */
    dropDifficulties: z.array(z.string().min(1)).optional(),
    /** Keeps the first so many tests of a problem; all when left out. */
    maxTests: z.int().positive().optional(),
  }),
  z.strictObject({ kind: z.literal("if-rlvr"), ...common }),
  z.strictObject({
    kind: z.literal("i3-logic"),
    ...common,
    /** Default: the 29 puzzle types of the paper. */
    tasks: names(),
    /** Keeps rows whose published solve rate is in [low, high]. */
    solveRate: z.tuple([z.number(), z.number()]).optional(),
  }),
  z.strictObject({ kind: z.literal("bfcl"), ...common, categories: names() }),
  z.strictObject({ kind: z.literal("aime"), ...common }),
  /** The seed of the order of the choices. */
  z.strictObject({ kind: z.literal("gpqa"), ...common, seed: z.int().min(0).optional() }),
  z.strictObject({ kind: z.literal("mmlu-pro"), ...common, seed: z.int().min(0).optional() }),
  /** First and last contest date, as "2024-07-01". */
  z.strictObject({ kind: z.literal("live-code-bench"), ...common, from: date(), to: date() }),
  z.strictObject({ kind: z.literal("ifeval"), ...common }),
]);
