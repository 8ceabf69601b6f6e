import { z } from "zod";
import { DATASETS, type DatasetSpec } from "./datasets.ts";
import { jsonlOptions } from "./jsonl.ts";

const common = {
  /** A file, a folder with everything below it, or a list of those; .json, .jsonl (also .gz) or .parquet. */
  path: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  /** Of a folder, the files whose name begins with this: "train". */
  split: z.string().min(1).optional(),
  /** What the policy is asked; {task} stands for the row's text. */
  template: z.string().includes("{task}").optional(),
  /** A file of `hone data check --drops`: its rows are left out. */
  drops: z.string().min(1).optional(),
  /** Order of training rows: each once a pass (the default), or each drawn from all of them. */
  draw: z.enum(["permutation", "uniform"]).optional(),
  /** Which rows are held out: a share in (0, 1), a number of rows, or a file of content keys (docs/data.md). */
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

/** A published data set as the source of a domain, as a recipe says it; docs/data.md says what each kind keeps. */
export const datasetSchema = z.discriminatedUnion(
  "kind",
  kinds as [(typeof kinds)[0]],
) as unknown as z.ZodType<DatasetSpec, DatasetSpec>;
