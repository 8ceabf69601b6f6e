import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { HoneError } from "../../errors.ts";
import type { CaseReader } from "../verify-case.ts";
import { code } from "./code.ts";

const PROBLEMS = "taco_format_problems.jsonl";
const rowSchema = z.object({
  problem: z.union([z.string(), z.object({ input_output: z.unknown() })]),
  response: z.string(),
  total: z.int().nonnegative().nullish(),
});
const problemSchema = z.object({ id: z.string(), input_output: z.unknown() });

type Problems = ReadonlyMap<string, unknown>;

/** By folder, so that a file of cases reads its problems once. */
const READ = new Map<string, Promise<Problems>>();

/**
 * Reads { problem, response, total? }: `problem` is the id of a line { id, input_output } of taco_format_problems.jsonl in
 * the folder of the case file, or such an object itself; the first `total` of its tests count, all where it is 0 or absent.
 */
export const readCase: CaseReader = async (row, compat, folder) => {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw bad(`${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { problem, response, total } = parsed.data;
  const input_output = typeof problem === "string" ? await lookUp(folder, problem) : problem.input_output;
  return {
    verifier: code,
    completion: { text: response, finish: "stop" },
    reference: { input_output, compat, ...(total ? { limits: { tests: total } } : {}) },
  };
};

const bad = (why: string, options: { cause?: unknown; hint?: string } = {}): HoneError =>
  new HoneError("HONE_ERR_DATA", `code case: ${why}`, options);

async function lookUp(folder: string, id: string): Promise<unknown> {
  const problems = READ.get(folder) ?? readProblems(join(folder, PROBLEMS));
  READ.set(folder, problems);
  const found = await problems;
  if (!found.has(id)) throw bad(`no problem ${JSON.stringify(id)} in ${PROBLEMS}`);
  return found.get(id);
}

async function readProblems(path: string): Promise<Problems> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw bad(`cannot read ${path}`, {
      cause,
      hint: `A case names its problem by id; ${PROBLEMS} must lie beside the case file.`,
    });
  });
  const problems = new Map<string, unknown>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      const { id, input_output } = problemSchema.parse(JSON.parse(line));
      problems.set(id, input_output);
    } catch (cause) {
      throw bad(`${path}:${index + 1}: not a problem { id, input_output }`, { cause });
    }
  }
  return problems;
}
