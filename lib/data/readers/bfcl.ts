import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { describeTools, LANGUAGES } from "./bfcl-prompt.ts";
import {
  type DatasetOptions,
  fill,
  isBad,
  type RowOutcome,
  type RowReader,
  readFields,
} from "./row-reader.ts";

/** The single-turn categories; those of relevance have no expected call. */
export const BFCL_CATEGORIES = [
  "simple_python",
  "simple_java",
  "simple_javascript",
  "multiple",
  "parallel",
  "parallel_multiple",
  "irrelevance",
  "live_simple",
  "live_multiple",
  "live_parallel",
  "live_parallel_multiple",
  "live_irrelevance",
  "live_relevance",
] as const;
export type BfclCategory = (typeof BFCL_CATEGORIES)[number];

export interface BfclOptions extends DatasetOptions {
  /** Default: all thirteen. */
  readonly categories?: readonly string[] | undefined;
}

const message = z.object({ role: z.enum(["system", "user", "assistant"]), content: z.string() });
const functionSchema = z.looseObject({
  name: z.string().min(1),
  description: z.string().optional(),
  parameters: z.looseObject({
    properties: z.record(z.string(), z.unknown()),
    required: z.array(z.string()).optional(),
  }),
});
const truthSchema = z.array(
  z
    .record(z.string(), z.record(z.string(), z.array(z.unknown())))
    .refine((call) => Object.keys(call).length === 1, "not one function a call"),
);
const rowSchema = z.object({
  id: z.string().min(1),
  question: z.array(z.array(message).min(1)).length(1),
  function: z.array(functionSchema),
  ground_truth: truthSchema.optional(),
  category: z.string().optional(),
});
type Row = z.infer<typeof rowSchema>;

const ANSWERS = "possible_answer";

/**
 * BFCL v4, single-turn: a request, the functions there are, and the calls that would answer it. Expected calls come
 * from the row or, as published, from the same line of the same file in the folder possible_answer beside it.
 * Source: gorilla, berkeley-function-call-leaderboard, bfcl_eval/data/BFCL_v4_<category>.json.
 */
export const bfcl: RowReader<BfclOptions> = {
  domain: "function-calling",
  verifier: "function-calling",
  takes: (file) => basename(dirname(file)) !== ANSWERS && categoryOf(file) !== undefined,
  open({ template = "{task}", categories = BFCL_CATEGORIES }) {
    let answers: { readonly file: string; readonly lines: readonly unknown[] | undefined } | undefined;
    return ({ value, file, row: line }) => {
      if (answers?.file !== file) answers = { file, lines: readAnswers(file) };
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const category = row.category ?? categoryOf(file)!;
      if (!isCategory(category)) return { bad: "category: none of the single-turn ones" };
      if (!categories.includes(category)) return { leftOut: `category ${category}` };
      if (row.function.length === 0 && !category.endsWith("irrelevance")) return { bad: "function: none" };
      const truth = row.ground_truth ?? readTruth(answers.lines?.[line - 1]);
      if (isBad(truth)) return truth;
      if (!category.endsWith("relevance") && (truth === undefined || truth.length === 0)) {
        return { bad: "ground_truth: none" };
      }
      return draftOf(row, category, truth, template);
    };
  },
};

function draftOf(
  row: Row,
  category: BfclCategory,
  ground_truth: z.infer<typeof truthSchema> | undefined,
  template: string,
): RowOutcome {
  const { id, function: functions } = row;
  const messages = row.question[0]!.map(({ content }) => content.trim()).join("\n\n");
  const language = LANGUAGES[category] ?? "python";
  return {
    content: JSON.stringify([category, messages, functions]),
    question: fill(template, `${describeTools(functions, language)}\n\n${messages}`),
    family: category,
    level: 0,
    reference: { id, category, function: functions, ...(ground_truth && { ground_truth }) },
    gold: () =>
      ground_truth ? [callsOf(ground_truth)] : category.endsWith("irrelevance") ? ["No call."] : [],
  };
}

/** The calls with the first value each parameter may have; those that may be left out are. */
function callsOf(truth: z.infer<typeof truthSchema>): string {
  const calls = truth.flatMap((call) =>
    Object.entries(call).map(([name, parameters]) => ({
      name: name.replaceAll(".", "_"),
      arguments: Object.fromEntries(
        Object.entries(parameters).flatMap(([key, values]) =>
          values.includes("") || values.length === 0 ? [] : [[key, firstOf(values[0])]],
        ),
      ),
    })),
  );
  return `<tool_calls>${JSON.stringify(calls)}</tool_calls>`;
}

/** Inside an allowed dict every value is a list of allowed ones again. */
function firstOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(firstOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, allowed]) => {
      if (!Array.isArray(allowed)) return [[key, allowed]];
      return allowed.includes("") ? [] : [[key, firstOf(allowed[0])]];
    }),
  );
}

const isCategory = (name: string): name is BfclCategory =>
  (BFCL_CATEGORIES as readonly string[]).includes(name);

function categoryOf(file: string): BfclCategory | undefined {
  const name = basename(file)
    .replace(/^BFCL_v\d+_/, "")
    .replace(/\..*$/, "");
  return isCategory(name) ? name : undefined;
}

/** Answers by line; undefined where there is no such file. */
function readAnswers(file: string): readonly unknown[] | undefined {
  const path = join(dirname(file), ANSWERS, basename(file));
  if (!existsSync(path)) return undefined;
  return readFileSync(path, "utf8")
    .split("\n")
    .map((line, i) => {
      try {
        return line.trim() === "" ? undefined : (JSON.parse(line) as unknown);
      } catch (cause) {
        throw new HoneError("HONE_ERR_DATA", `${path}:${i + 1}: not JSON`, { cause });
      }
    });
}

function readTruth(answer: unknown): z.infer<typeof truthSchema> | undefined | { readonly bad: string } {
  if (answer === undefined) return undefined;
  const read = readFields(z.object({ ground_truth: truthSchema }), answer, ANSWERS);
  return isBad(read) ? read : read.ground_truth;
}
