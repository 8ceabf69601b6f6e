import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";

const question = z.object({ value: z.string().trim().min(1) });
const answer = z.object({ ground_truth: z.object({ value: z.string().trim().min(1) }) });

/** Two turns in a list, as the JSON files have them, or under "0" and "1", as a conversion to columns leaves them. */
const rowSchema = z.preprocess(
  (row) => (Array.isArray(row) ? { ...row } : row),
  z.object({ 0: question, 1: answer }),
);

const ASK_FOR_BOX = "{task}\n\nThink step by step and put your final answer within \\boxed{}.";

/**
 * Open-Reasoner-Zero: a question and its answer in LaTeX.
 * Source: Open-Reasoner-Zero, data/orz_math_57k_collected.json and its siblings.
 */
export const openReasonerZero: RowReader<DatasetOptions> = {
  domain: "math",
  verifier: "math",
  options: {},
  alias: "orz",
  samples: { file: "train.jsonl", rows: sampleRows },
  open({ template = ASK_FOR_BOX }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const task = row[0].value;
      const gold = row[1].ground_truth;
      return {
        content: task,
        question: fill(template, task),
        family: "open-reasoner-zero",
        level: 0,
        reference: { answer: gold.value },
        gold: () => [`\\boxed{${gold.value}}`],
      };
    };
  },
};

function sampleRows(): unknown[] {
  return [2, 3, 5, 7, 11].map((n) => [
    { from: "human", value: `What is $${n}^2 + ${n}$?` },
    { from: "assistant", ground_truth: { value: String(n * n + n) } },
  ]);
}
