import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";
import { statedAnswer } from "./stated-answer.ts";

const text = () => z.string().trim().min(1);
const LEVEL = /^(?:Level )?([1-5])$/;
const rowSchema = z.object({
  problem: text(),
  answer: text().optional(),
  solution: text().optional(),
  subject: text().optional(),
  type: text().optional(),
  level: z.union([z.int(), z.string()]),
});

const TEMPLATE = "{task}\n\nThink step by step and put your final answer within \\boxed{}.";

/**
 * MATH-500, and rows of MATH, whose answer is in the box of `solution`, whose subject is in `type` and whose level is
 * "Level 3" ("Level ?" counts as the easiest). For evaluation only.
 * Source: data set cards HuggingFaceH4/MATH-500 and hendrycks/competition_math.
 */
export const math500: RowReader<DatasetOptions> = {
  domain: "math",
  verifier: "math",
  options: {},
  benchmark: true,
  open({ template = TEMPLATE }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const family = row.subject ?? row.type;
      if (family === undefined) return { bad: "subject: missing" };
      const answer = row.answer ?? (row.solution && statedAnswer("solution", row.solution, true)?.answer);
      if (answer === undefined) return { bad: "answer: missing, and solution states none" };
      return {
        content: row.problem,
        question: fill(template, row.problem),
        family,
        level: Number(LEVEL.exec(String(row.level))?.[1] ?? 1) - 1,
        reference: { answer },
        gold: () => [`\\boxed{${answer}}`],
      };
    };
  },
};
