import { z } from "zod";
import { RowsBeside } from "../case-rows.ts";
import { checked } from "../checked.ts";
import type { CaseReader } from "../verify-case.ts";
import { code } from "./verify.ts";

const rowSchema = z.object({
  problem: z.union([z.string(), z.object({ input_output: z.unknown() })]),
  response: z.string(),
  total: z.int().nonnegative().nullish(),
});
const problemSchema = z.object({ id: z.string(), input_output: z.unknown() });

const what = "code case";
const problems = new RowsBeside<unknown>({
  what,
  noun: "problem",
  shape: "a problem { id, input_output }",
  parse(line) {
    const { id, input_output } = problemSchema.parse(JSON.parse(line));
    return [id, input_output];
  },
});

/**
 * Reads { problem, response, total? }: `problem` is the id of a line { id, input_output } of taco_format_problems.jsonl in
 * the folder of the case file, or such an object itself; the first `total` of its tests count, all where it is 0 or absent.
 */
export const readCase: CaseReader = async (row, folder) => {
  const { problem, response, total } = checked(rowSchema, row, what, "row");
  const input_output =
    typeof problem === "string"
      ? await problems.find(folder, "taco_format_problems.jsonl", problem)
      : problem.input_output;
  return {
    verifier: code,
    completion: { text: response, finish: "stop" },
    reference: { input_output, ...(total ? { limits: { tests: total } } : {}) },
  };
};
