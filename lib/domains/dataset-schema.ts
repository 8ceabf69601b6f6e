import { z } from "zod";
import type { RowMap, WrittenMap } from "../data/row-map.ts";
import { exportNameFault, isModulePlace } from "../user-module.ts";
import { DATASETS, type DatasetSpec } from "./datasets.ts";
import { jsonlOptions } from "./jsonl.ts";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "it must be a hash, 64 hexadecimal digits");
const modulePlace = z
  .string()
  .refine(isModulePlace, 'it must be a function, or a module by path: "./rows.ts", "./rows.ts#toRow"')
  .superRefine((place, check) => {
    const fault = exportNameFault(place);
    if (fault !== undefined) check.addIssue({ code: "custom", message: fault });
  });
/**
 * A map as run.json records it: a function, or a module with its hash. A text here is a path that could not
 * be resolved.
 */
const map = z.union([
  z.strictObject({ function: z.string().min(1), sha256 }),
  z.strictObject({ module: modulePlace, sha256 }),
  modulePlace.refine((place) => !isModulePlace(place), "no such file relative to the working folder"),
]) as unknown as z.ZodType<WrittenMap, RowMap | WrittenMap | string>;

const common = {
  /** A file, a folder with everything below it, or a list of those; .json, .jsonl (also .gz) or .parquet. */
  path: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  /** For a folder: read only files whose name begins with this, such as "train". */
  split: z.string().min(1).optional(),
  /** Template of the question; {task} is replaced by the row's text. */
  template: z.string().includes("{task}").optional(),
  /** A file written by `hone data check --drops`: the rows that it lists are left out. */
  drops: z.string().min(1).optional(),
  /** Converts each row before it is read: a function of the entry script, or "./rows.ts#toRow". */
  map: map.optional(),
  /** Order of training rows: every row once per pass (the default), or every draw from all rows. */
  draw: z.enum(["permutation", "uniform"]).optional(),
  /** Selects the held-out rows: a share in (0, 1), a number of rows, or a file of content keys (docs/reference/data.md). */
  heldOut: z
    .union(
      [
        z.number().gt(0).lt(1),
        z
          .int()
          .positive()
          .max(2 ** 24),
        z.string().min(1),
      ],
      "expected a share between 0 and 1, a number of rows, or a file of content keys",
    )
    .optional(),
};

const kinds = Object.entries(DATASETS).map(([kind, reader]) => {
  const own = typeof reader === "function" ? jsonlOptions : reader.options;
  return z.strictObject({ kind: z.literal(kind), ...common, ...own });
});

/** A published data set as the source of a domain, in the form of a recipe; docs/reference/data.md lists what each kind keeps. */
export const datasetSchema = z.discriminatedUnion(
  "kind",
  kinds as [(typeof kinds)[0]],
) as unknown as z.ZodType<Recorded<DatasetSpec>, Given<DatasetSpec>>;

type Recorded<Spec> = Spec extends unknown
  ? Omit<Spec, "map"> & { readonly map?: WrittenMap | undefined }
  : never;
type Given<Spec> = Spec extends unknown
  ? Omit<Spec, "map"> & { readonly map?: RowMap | WrittenMap | string | undefined }
  : never;
