import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";
import { hiddenChoices } from "../../hidden-choices.ts";

const text = () => z.string().trim().min(1);
const rowSchema = z.object({
  problem: text().optional(),
  question: text().optional(),
  answer: z
    .union([
      z.int(),
      z
        .string()
        .trim()
        .regex(/^\d{1,3}(?:\^(?:\\circ|\{\\circ\}))?$/, "no integer from 0 to 999")
        .transform((answer) => Number.parseInt(answer, 10)),
    ])
    .refine((answer) => answer >= 0 && answer <= 999, "no integer from 0 to 999"),
});

const TEMPLATE =
  "{task}\n\nThink step by step and put your final answer within \\boxed{}. It is an integer from 0 to 999.";

/**
 * AIME: thirty problems a year, each with an integer for an answer, which one copy writes as degrees; for evaluation only.
 * Source: data set cards MathArena/aime_2025, aime_2024, opencompass/AIME2025 (`question` for `problem`).
 */
export const aime: RowReader<DatasetOptions> = {
  domain: "math",
  verifier: "math",
  options: {},
  benchmark: true,
  open({ template = TEMPLATE }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const answer = String(row.answer);
      const problem = row.problem ?? row.question;
      if (problem === undefined) return { bad: "problem: missing" };
      const bad = hiddenChoices(value, problem);
      if (bad !== undefined) return { bad };
      return {
        content: problem,
        question: fill(template, problem),
        family: "aime",
        level: 0,
        reference: { answer },
        gold: () => [`\\boxed{${answer}}`, `\\boxed{${answer.padStart(3, "0")}}`],
      };
    };
  },
};
