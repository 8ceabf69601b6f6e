import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";
import { HoneError } from "../../../errors.ts";
import { elementsOf, membersOf } from "../../../json-text.ts";

/** Easiest first; others, UNKNOWN_DIFFICULTY among them, count as the easiest. */
const LEVELS: readonly string[] = ["EASY", "MEDIUM", "MEDIUM_HARD", "HARD", "VERY_HARD"];

export interface TacoOptions extends DatasetOptions {
  /** Rows of these are left out. Default: HARD and VERY_HARD. */
  readonly dropDifficulties?: readonly string[] | undefined;
  /** Keeps the first so many tests of a problem. Default: all. */
  readonly maxTests?: number | undefined;
}

const rowSchema = z.object({
  question: z.string().trim().min(1),
  input_output: z.string(),
  difficulty: z.string(),
  starter_code: z.string().nullish(),
  solutions: z.union([z.string(), z.array(z.string())]).nullish(),
});

const FROM_STDIN =
  "{task}\n\nWrite a Python program that reads from standard input and writes to standard output. Put all of it in one ```python block.";
const FROM_CALL = "{task}\n\nWrite it in Python. Put all of it in one ```python block.";
/** Solutions tried when the gold of a row is asked for. */
const MAX_SOLUTIONS = 3;

/**
 * TACO: programming problems with tests, standard input or a function to call.
 * The reference keeps `input_output` as the JSON text of the row, so that integers of any size stay as they are.
 * Source: FlagOpen/TACO, data set card BAAI/TACO; rows of code contests in the same shape.
 */
export const taco: RowReader<TacoOptions> = {
  domain: "code",
  verifier: "code",
  options: {
    dropDifficulties: z.array(z.string().min(1)).optional(),
    maxTests: z.int().positive().optional(),
  },
  samples: { file: "train.jsonl", rows: sampleRows },
  columns: ["question", "input_output", "difficulty", "starter_code", "solutions"],
  open({ template, dropDifficulties = ["HARD", "VERY_HARD"], maxTests }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      if (dropDifficulties.includes(row.difficulty)) return { leftOut: `difficulty ${row.difficulty}` };
      const tests = readTests(row.input_output, maxTests);
      if (isBad(tests)) return tests;
      const { fnName: fn_name, inputOutput: input_output } = tests;
      return {
        content: row.question,
        question: fill(template ?? (fn_name === undefined ? FROM_STDIN : FROM_CALL), taskOf(row, fn_name)),
        family: "taco",
        level: Math.max(0, LEVELS.indexOf(row.difficulty)),
        reference: { input_output, ...(fn_name !== undefined && { fn_name }) },
        gold: () => readSolutions(row.solutions).map((code) => `\`\`\`python\n${code}\n\`\`\``),
      };
    };
  },
};

function taskOf({ question, starter_code }: z.infer<typeof rowSchema>, fnName: string | undefined): string {
  if (fnName === undefined) return question;
  const named = question.includes(fnName) ? question : `${question}\n\nThe function is called \`${fnName}\`.`;
  const starter = starter_code?.trim() ?? "";
  return starter === "" ? named : `${named}\n\nStart from this:\n\`\`\`python\n${starter}\n\`\`\``;
}

/** The tests as JSON text, at most `maxTests` of them, every literal as it was. */
function readTests(
  json: string,
  maxTests: number | undefined,
): { readonly inputOutput: string; readonly fnName: string | undefined } | { readonly bad: string } {
  try {
    const members = membersOf(json);
    const [inputs, outputs] = ["inputs", "outputs"].map((key) => elementsOf(members.get(key) ?? ""));
    if (inputs!.length !== outputs!.length) return { bad: "input_output: not as many outputs as inputs" };
    if (inputs!.length === 0) return { bad: "input_output: no tests" };
    const name = members.get("fn_name");
    const fnName = name === undefined || name === "null" ? undefined : (JSON.parse(name) as unknown);
    if (fnName !== undefined && (typeof fnName !== "string" || !/^[\w.]+$/.test(fnName))) {
      return { bad: "input_output: fn_name is no name" };
    }
    if (inputs!.length <= (maxTests ?? Number.POSITIVE_INFINITY)) return { inputOutput: json, fnName };
    const few = [inputs, outputs].map((tests) => `[${tests!.slice(0, maxTests).join(", ")}]`);
    const fn = fnName === undefined ? "" : `"fn_name": ${JSON.stringify(fnName)}, `;
    return { inputOutput: `{${fn}"inputs": ${few[0]}, "outputs": ${few[1]}}`, fnName };
  } catch (error) {
    if (HoneError.is(error) || error instanceof SyntaxError) {
      return { bad: "input_output: not JSON with inputs and outputs" };
    }
    throw error;
  }
}

function readSolutions(solutions: string | readonly string[] | null | undefined): readonly string[] {
  if (typeof solutions !== "string") return (solutions ?? []).slice(0, MAX_SOLUTIONS);
  try {
    return z.array(z.string()).parse(JSON.parse(solutions)).slice(0, MAX_SOLUTIONS);
  } catch {
    return [];
  }
}

function sampleRows(): unknown[] {
  return [2, 3, 4, 5, 6].map((factor) => ({
    question: `Read an integer and print ${factor} times its value.`,
    input_output: JSON.stringify({ inputs: ["1\n", "-3\n"], outputs: [`${factor}\n`, `${-3 * factor}\n`] }),
    difficulty: "EASY",
    solutions: JSON.stringify([`print(${factor} * int(input()))`]),
  }));
}
