import { z } from "zod";
import {
  type DatasetOptions,
  fill,
  isBad,
  type RowDraft,
  type RowReader,
  readFields,
} from "../../../data/row-reader.ts";
import { readTests, type Tests } from "./tests.ts";

/** A data set's difficulty names, easiest first; other names, including UNKNOWN_DIFFICULTY, count as the easiest. */
const LEVELS: Readonly<Record<string, readonly string[]>> = {
  taco: ["EASY", "MEDIUM", "MEDIUM_HARD", "HARD", "VERY_HARD"],
  apps: ["introductory", "interview", "competition"],
};

export interface ProgramOptions extends DatasetOptions {
  /** Rows of these difficulties are left out. Default: the data set's choice. */
  readonly dropDifficulties?: readonly string[] | undefined;
  /** Keeps the first tests of a problem, up to this number. Default: all. */
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
/** Number of a row's solutions that are tried as gold answers. */
const MAX_SOLUTIONS = 3;

/**
 * Programming problems with tests, on standard input or calling a function, in the form of APPS and TACO. One reader
 * takes rows of both, so that folders of the two make one data set; a row's family tells which it is. The reference
 * keeps `input_output` as the JSON text of the row, so that integers of any size are preserved.
 */
export function programs(
  dropped: readonly string[],
  samples: RowReader<ProgramOptions>["samples"] & {},
): RowReader<ProgramOptions> {
  return {
    domain: "code",
    verifier: "code",
    options: {
      dropDifficulties: z.array(z.string().min(1)).optional(),
      maxTests: z.int().positive().optional(),
    },
    samples,
    columns: ["question", "input_output", "difficulty", "starter_code", "solutions"],
    open({ template, dropDifficulties = dropped, maxTests }) {
      return ({ value }) => {
        const row = readFields(rowSchema, value);
        if (isBad(row)) return row;
        if (dropDifficulties.includes(row.difficulty)) return { leftOut: `difficulty ${row.difficulty}` };
        if (row.input_output.trim() === "") return { leftOut: "no tests" };
        const tests = readTests(row.input_output, { field: "input_output", maxTests });
        return "inputOutput" in tests ? draftOf(row, tests, template) : tests;
      };
    },
  };
}

type Row = z.infer<typeof rowSchema>;

function draftOf(row: Row, tests: Tests, template: string | undefined): RowDraft {
  const family = LEVELS["apps"]!.includes(row.difficulty) ? "apps" : "taco";
  const level = Math.max(0, LEVELS[family]!.indexOf(row.difficulty));
  return { ...programDraft(row, tests, template), family, level };
}

/** A programming problem as published sets have it. */
export interface ProgramProblem {
  readonly question: string;
  readonly starter_code?: string | null | undefined;
  /** A list, or the JSON text of one; each bare or in a fenced block. */
  readonly solutions?: string | readonly string[] | null | undefined;
}

/** The question and reference of a problem with its tests. */
export function programDraft(
  problem: ProgramProblem,
  { fnName: fn_name, inputOutput: input_output }: Tests,
  template: string | undefined,
): Omit<RowDraft, "family" | "level"> {
  return {
    content: problem.question,
    question: fill(template ?? (fn_name === undefined ? FROM_STDIN : FROM_CALL), taskOf(problem, fn_name)),
    reference: { input_output, ...(fn_name !== undefined && { fn_name }) },
    gold: () =>
      readSolutions(problem.solutions).map((code) =>
        code.includes("```") ? code : `\`\`\`python\n${code}\n\`\`\``,
      ),
  };
}

function taskOf({ question, starter_code }: ProgramProblem, fnName: string | undefined): string {
  if (fnName === undefined) return question;
  const named = question.includes(fnName) ? question : `${question}\n\nThe function is called \`${fnName}\`.`;
  const starter = starter_code?.trim() ?? "";
  return starter === "" ? named : `${named}\n\nStart from this:\n\`\`\`python\n${starter}\n\`\`\``;
}

function readSolutions(solutions: ProgramProblem["solutions"]): readonly string[] {
  if (typeof solutions !== "string") return (solutions ?? []).slice(0, MAX_SOLUTIONS);
  try {
    return z.array(z.string()).parse(JSON.parse(solutions)).slice(0, MAX_SOLUTIONS);
  } catch {
    return [];
  }
}
