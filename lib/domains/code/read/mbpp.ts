import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";

const rowSchema = z.object({
  task_id: z.int(),
  text: z.string().trim().min(1).optional(),
  prompt: z.string().trim().min(1).optional(),
  code: z.string(),
  test_list: z.array(z.string().min(1)).min(1),
  test_setup_code: z.string().nullish(),
  test_imports: z.array(z.string()).nullish(),
});

const TEMPLATE =
  "{task}\n\nWrite it in Python, with its imports, in one ```python block. It must pass these tests:\n\n```python\n{tests}\n```";
/** Creation of a class instance in a test: it cannot be sent to the program's process. */
const CLASS_INSTANCE = /\b[A-Z]\w*\(/;
/** Calls whose results can be sent, although CLASS_INSTANCE matches them. */
const NO_CLASS = /\b(?:Counter|Decimal|Fraction)\(/g;

/**
 * MBPP: a task in a sentence, and assertions that call a function by its name; in full (`text`, `test_setup_code`) or
 * sanitized (`prompt`, `test_imports`); for evaluation only. The assertions are shown, as the set's own prompt does.
 * Left out are rows whose tests hand instances of classes to the function.
 * Source: google-research/mbpp, mbpp.jsonl and sanitized-mbpp.json; data set card google-research-datasets/mbpp.
 */
export const mbpp: RowReader<DatasetOptions> = {
  domain: "code",
  verifier: "assertions",
  options: {},
  benchmark: true,
  columns: Object.keys(rowSchema.shape),
  open({ template = TEMPLATE }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const task = row.text ?? row.prompt;
      if (task === undefined) return { bad: "text: missing" };
      const { test_list: tests, test_setup_code: setup, test_imports: imports } = row;
      const entryPoint = calledIn(tests[0]!, row.code);
      if (entryPoint === undefined) return { bad: "test_list: calls no function that code defines" };
      const prelude = [...(imports ?? []), setup ?? ""].join("\n").trim();
      if (makesInstances([prelude, ...tests])) return { leftOut: "tests that make instances of classes" };
      return {
        content: task,
        question: fill(template, task).replace("{tests}", () => tests.join("\n")),
        family: "mbpp",
        level: 0,
        reference: { entryPoint, prelude, tests },
        gold: () => [`\`\`\`python\n${row.code}\n\`\`\``],
      };
    };
  },
};

/** True if tests create class instances. */
export const makesInstances = (sources: readonly string[]): boolean =>
  CLASS_INSTANCE.test(sources.join("\n").replace(NO_CLASS, ""));

/** The first function that `code` defines and `test` calls. */
function calledIn(test: string, code: string): string | undefined {
  const defined = Array.from(code.matchAll(/^def\s+(\w+)/gm), ([, name]) => name!);
  return defined.find((name) => new RegExp(`\\b${name}\\s*\\(`).test(test));
}
