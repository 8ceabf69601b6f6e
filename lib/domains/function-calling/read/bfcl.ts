import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import type { RawRow } from "../../../data/raw-row.ts";
import {
  type DatasetOptions,
  fill,
  isBad,
  type RowOutcome,
  type RowReader,
  readFields,
  readJson,
} from "../../../data/row-reader.ts";
import { elementsOf, membersOf } from "../../../shared/text/json-text.ts";
import { asTemplatesTakeThem, describeTools, LANGUAGES, toolsOf } from "./bfcl-prompt.ts";

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
  /** Default: all thirteen categories. */
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
 * BFCL v4, single-turn: a request, the available functions, and the expected calls. Expected calls come from the row
 * or, as published, from the same line of the same file in the neighbouring folder possible_answer.
 * Source: gorilla, berkeley-function-call-leaderboard, bfcl_eval/data/BFCL_v4_<category>.json.
 */
export const bfcl: RowReader<BfclOptions> = {
  domain: "function-calling",
  verifier: "function-calling",
  options: { categories: z.array(z.string().min(1)).min(1).optional() },
  samples: { file: "simple_python.jsonl", rows: sampleRows },
  takes: (file) => basename(dirname(file)) !== ANSWERS && categoryOf(file) !== undefined,
  open({ template, categories = BFCL_CATEGORIES }) {
    let answers: { readonly file: string; readonly lines: readonly string[] } | undefined;
    return (raw) => {
      if (answers?.file !== raw.file) answers = { file: raw.file, lines: readAnswers(raw.file) };
      const row = readFields(rowSchema, raw.value);
      if (isBad(row)) return row;
      const category = row.category ?? categoryOf(raw.file)!;
      if (!isCategory(category)) return { bad: "category: none of the single-turn ones" };
      if (!categories.includes(category)) return { leftOut: `category ${category}` };
      const needed = !category.endsWith("relevance");
      if (row.function.length === 0 && needed) return { bad: "function: none" };
      const truth = readTruth(raw, row, answers.lines[raw.row - 1] ?? "");
      if (isBad(truth)) return truth;
      if (needed && (truth.json === undefined || /^\[\s*\]$/.test(truth.json)))
        return { bad: "ground_truth: none" };
      return draftOf(raw, row, category, truth.json, template);
    };
  },
};

/** The entry as JSON text, numbers as the row writes them: 1 and 1.0 are answers of different types. */
function draftOf(
  raw: RawRow,
  row: Row,
  category: BfclCategory,
  truth: string | undefined,
  template: string | undefined,
): RowOutcome {
  const turns = row.question[0]!;
  const messages = turns.map(({ content }) => content.trim()).join("\n\n");
  const language = LANGUAGES[category] ?? "python";
  const tools = toolsOf(row.function, language);
  const functions = literally(raw, "function") ?? JSON.stringify(row.function);
  const head = `{"id":${JSON.stringify(row.id)},"category":"${category}","function":${functions}`;
  return {
    content: JSON.stringify([category, messages, row.function]),
    question: fill(template ?? "{task}", `${describeTools(tools)}\n\n${messages}`),
    ...(template === undefined && tools.length > 0 && { messages: turns, tools: asTemplatesTakeThem(tools) }),
    family: category,
    level: 0,
    reference: {
      entry: truth === undefined ? `${head}}` : `${head},"ground_truth":${truth}}`,
      dialect: "tool_calls",
    },
    gold: () => {
      if (truth === undefined) return category.endsWith("irrelevance") ? ["No call."] : [];
      // Java and JavaScript expect source text as values
      return language === "python" ? [false, true].map((full) => callsOf(truth, full)) : [];
    },
  };
}

/** A member of the row as its original JSON text. */
function literally({ text }: RawRow, key: string): string | undefined {
  return text === undefined ? undefined : membersOf(text).get(key);
}

/**
 * Builds gold calls from the first allowed value of each parameter: all parameters if `full`, otherwise only the
 * required ones. A verifier must accept either form, unless a required parameter has no allowed value: such a row is
 * faulty.
 */
function callsOf(truth: string, full: boolean): string {
  const calls = elementsOf(truth).flatMap((call) =>
    [...membersOf(call)].map(
      ([name, parameters]) =>
        `{"name":${JSON.stringify(name.replaceAll(".", "_"))},"arguments":${firstOfEach(parameters, full)}}`,
    ),
  );
  return `<tool_calls>[${calls.join(",")}]</tool_calls>`;
}

/** Takes the first of each list of allowed values; recurses into dicts, which have the same form. */
function firstOfEach(allowed: string, full: boolean): string {
  const given = [...membersOf(allowed)].flatMap(([key, values]) => {
    const list = values.startsWith("[") ? elementsOf(values) : [values];
    const first = list.find((value) => value !== '""');
    if (first === undefined || (!full && list.includes('""'))) return [];
    return [`${JSON.stringify(key)}:${plainValue(first, full)}`];
  });
  return `{${given.join(",")}}`;
}

function plainValue(json: string, full: boolean): string {
  if (json.startsWith("{")) return firstOfEach(json, full);
  return json.startsWith("[")
    ? `[${elementsOf(json)
        .map((one) => plainValue(one, full))
        .join(",")}]`
    : json;
}

const isCategory = (name: string): name is BfclCategory =>
  (BFCL_CATEGORIES as readonly string[]).includes(name);

function categoryOf(file: string): BfclCategory | undefined {
  const name = basename(file)
    .replace(/^BFCL_v\d+_/, "")
    .replace(/\..*$/, "");
  return isCategory(name) ? name : undefined;
}

/** The lines of the answer file beside a file; empty if there is no such file. */
function readAnswers(file: string): readonly string[] {
  const path = join(dirname(file), ANSWERS, basename(file));
  return existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
}

/** The expected calls as JSON text, of the row itself or of its line of answers. */
function readTruth(
  raw: RawRow,
  row: Row,
  answer: string,
): { readonly json: string | undefined } | { readonly bad: string } {
  if (row.ground_truth !== undefined) {
    return { json: literally(raw, "ground_truth") ?? JSON.stringify(row.ground_truth) };
  }
  if (answer.trim() === "") return { json: undefined };
  const read = readJson(z.object({ ground_truth: truthSchema }), answer, ANSWERS);
  return isBad(read) ? read : { json: membersOf(answer).get("ground_truth") };
}

function sampleRows(): unknown[] {
  return ["Lima", "Oslo", "Accra", "Quito", "Hanoi"].map((city, i) => ({
    id: `simple_python_${i}`,
    category: "simple_python",
    question: [[{ role: "user", content: `What is the weather in ${city}?` }]],
    function: [
      {
        name: "weather.now",
        description: "The weather in a city.",
        parameters: { type: "dict", properties: { city: { type: "string" } }, required: ["city"] },
      },
    ],
    ground_truth: [{ "weather.now": { city: [city] } }],
  }));
}
