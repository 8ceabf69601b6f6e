import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";

const rowSchema = z.object({
  task_id: z.string().min(1),
  prompt: z.string().min(1),
  entry_point: z.string().regex(/^[A-Za-z_]\w*$/, "no name of a function"),
  test: z.string().includes("def check("),
  canonical_solution: z.string().nullish(),
});

const TEMPLATE =
  "Complete this Python function. Put all of it, with its imports, in one ```python block.\n\n```python\n{task}\n```";

/**
 * HumanEval: the head of a function with its description, and assertions in a function `check(candidate)`; for evaluation
 * only. What the head brings (imports, helpers) comes before program and tests alike.
 * Source: openai/human-eval, data/HumanEval.jsonl.gz; data set card openai/openai_humaneval.
 */
export const humanEval: RowReader<DatasetOptions> = {
  domain: "code",
  verifier: "assertions",
  options: {},
  benchmark: true,
  columns: Object.keys(rowSchema.shape),
  open({ template = TEMPLATE }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const prelude = `${row.prompt.trimEnd()}\n    pass\n`;
      return {
        content: row.prompt,
        question: fill(template, row.prompt.trim()),
        family: "humaneval",
        level: 0,
        reference: { entryPoint: row.entry_point, prelude, tests: [`${row.test}\ncheck(candidate)\n`] },
        gold: () =>
          row.canonical_solution ? [`\`\`\`python\n${row.prompt}${row.canonical_solution}\n\`\`\``] : [],
      };
    };
  },
};
