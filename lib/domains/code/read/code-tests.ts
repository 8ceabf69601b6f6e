import { z } from "zod";
import { jsonAt, type RawRow } from "../../../data/raw-row.ts";
import {
  type DatasetOptions,
  isBad,
  type RowOutcome,
  type RowReader,
  readFields,
} from "../../../data/row-reader.ts";
import { askedIn } from "../../columns.ts";
import { programDraft } from "./programs.ts";
import { readTests } from "./tests.ts";

export interface CodeTestsOptions extends DatasetOptions {
  /** Keeps the first tests of a problem, up to this number. Default: all. */
  readonly maxTests?: number | undefined;
}

const text = () => z.string().trim().min(1).nullish();
const tests = z.union([z.string(), z.array(z.unknown()), z.looseObject({})], "no tests").nullish();
const rowSchema = z.object({
  problem: text(),
  question: text(),
  prompt: text(),
  description: text(),
  input_format: text(),
  output_format: text(),
  examples: z.array(z.object({ input: z.string(), output: z.string() })).nullish(),
  tests,
  test_cases: tests,
  official_tests: tests,
  verification_info: z.union([z.string(), z.looseObject({})]).nullish(),
  verifier_metadata: z.looseObject({}).nullish(),
  responses_create_params: z.unknown().optional(),
  info: z.union([z.string(), z.looseObject({})]).nullish(),
  inputs: z.union([z.string(), z.array(z.unknown())]).nullish(),
  outputs: z.union([z.string(), z.array(z.unknown())]).nullish(),
  language: z.string().nullish(),
  metadata: z.unknown().optional(),
  func_name: z.string().nullish(),
  starter_code: z.string().nullish(),
  solutions: z.union([z.string(), z.array(z.string())]).nullish(),
  gold_standard_solution: text(),
  generated_checker: text(),
  checker: text(),
  interaction_format: text(),
  input_mode: text(),
});
type Row = z.infer<typeof rowSchema>;

/** Fields that may hold a row's tests. */
const PLACES = [
  "tests",
  "verification_info.test_cases",
  "test_cases",
  "official_tests",
  "info.tests",
  "verifier_metadata.unit_tests",
] as const;

/**
 * Programming problems whose tests are a list, or columns of inputs and outputs, as JSON text or as values: DeepCoder
 * (`problem`, `tests`), Open-R1's verifiable-coding-problems (`verification_info`), OpenThoughts' metadata
 * (`test_cases`) and codeforces (`official_tests`; the question is `prompt`, else assembled from its parts),
 * INTELLECT-3-RL (`info.tests`), NeMo Gym's Nemotron (`verifier_metadata.unit_tests`) and rStar-Coder (`inputs` and
 * `outputs`).
 * Source: data set cards agentica-org/DeepCoder-Preview-Dataset, open-r1/verifiable-coding-problems-python,
 * open-thoughts/OpenThoughts-114k, open-r1/codeforces.
 */
export const codeTests: RowReader<CodeTestsOptions> = {
  domain: "code",
  verifier: "code",
  options: { maxTests: z.int().positive().optional() },
  columns: Object.keys(rowSchema.shape),
  open({ template, maxTests }) {
    return (raw) => {
      const row = readFields(rowSchema, raw.value);
      if (isBad(row)) return row;
      const question = row.problem ?? row.question ?? row.prompt ?? inputOf(raw) ?? putTogether(row);
      if (question === undefined) return { bad: "problem: missing" };
      const left = leftOut(row, raw);
      if (left !== undefined) return left;
      const found = testsOf(row, raw);
      if (!("json" in found)) return found;
      const fnName = jsonAt(raw, ["metadata", "func_name"]) ?? jsonAt(raw, ["func_name"]);
      const read = readTests(found.json, { field: found.field, maxTests, fnName });
      if (!("inputOutput" in read)) return read;
      const solutions = row.solutions ?? (row.gold_standard_solution ? [row.gold_standard_solution] : []);
      const problem = { question, starter_code: row.starter_code, solutions };
      return { ...programDraft(problem, read, template), family: "code-tests", level: 0 };
    };
  },
};

/** The question in NeMo Gym's rows. */
function inputOf(raw: RawRow): string | undefined {
  const { responses_create_params: params } = raw.value as { responses_create_params?: unknown };
  const asked = params === undefined ? undefined : askedIn({ responses_create_params: params });
  return asked === undefined || isBad(asked) ? undefined : asked.task;
}

function testsOf(row: Row, raw: RawRow): { json: string; field: string } | RowOutcome {
  for (const field of PLACES) {
    const path = field.split(".");
    const value = path.length === 1 ? row[field as keyof Row] : undefined;
    const json = typeof value === "string" ? value : value === null ? undefined : jsonAt(raw, path);
    if (json === undefined) continue;
    return /^\s*(?:\[\s*\]\s*)?$/.test(json) ? { leftOut: "no tests" } : { json, field };
  }
  const [inputs, outputs] = ["inputs", "outputs"].map((field) => jsonAt(raw, [field]));
  if (inputs !== undefined && outputs !== undefined)
    return { json: `{"inputs": ${inputs}, "outputs": ${outputs}}`, field: "inputs" };
  return { bad: `tests: missing, as are ${PLACES.slice(1).join(", ")}` };
}

/** Reason why a row needs more than tests or another language than Python; undefined if it does not. */
function leftOut(row: Row, raw: RawRow): RowOutcome | undefined {
  const language = row.language ?? jsonAt(raw, ["verification_info", "language"]) ?? "python";
  if (!/^(?:any|py)/i.test(language)) return { leftOut: `language ${language}` };
  if (row.generated_checker) return { leftOut: "generated_checker: a program judges, not tests alone" };
  if (row.checker) return { leftOut: "checker: a program judges; kind code-contests-plus runs it" };
  if (row.interaction_format) return { leftOut: "interaction_format: interactive" };
  return row.input_mode === "file" ? { leftOut: "input_mode file" } : undefined;
}

/** Assembles the question of a codeforces problem from its parts. */
function putTogether({ description, input_format, output_format, examples }: Row): string | undefined {
  if (!description) return undefined;
  const shown = examples?.map(({ input, output }) => `Input:\n${input.trim()}\nOutput:\n${output.trim()}`);
  return [
    description,
    input_format && `Input\n\n${input_format}`,
    output_format && `Output\n\n${output_format}`,
    shown?.length && `Examples\n\n${shown.join("\n\n")}`,
  ]
    .filter(Boolean)
    .join("\n\n");
}
