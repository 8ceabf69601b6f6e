import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";

const rowSchema = z.object({
  question: z.string().trim().min(1),
  answer: z.string().regex(/####/, "no answer after ####"),
});

const TEMPLATE = "{task}\n\nThink step by step and put your final answer, a number, within \\boxed{}.";

/**
 * GSM8K: word problems of primary school; the answer is the number after `####`, which may have commas. For
 * evaluation only: its training split is read as the user's own rows.
 * Source: data set card openai/gsm8k.
 */
export const gsm8k: RowReader<DatasetOptions> = {
  domain: "math",
  verifier: "math",
  options: {},
  benchmark: true,
  columns: ["question", "answer"],
  open({ template = TEMPLATE }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const stated = row.answer.slice(row.answer.lastIndexOf("####") + 4);
      const answer = stated.replace(/[\s,$]/g, "").replace(/\.$/, "");
      if (!/^-?\d+(?:\.\d+)?$/.test(answer)) return { bad: "answer: no number after ####" };
      return {
        content: row.question,
        question: fill(template, row.question),
        family: "gsm8k",
        level: 0,
        reference: { answer },
        gold: () => [`\\boxed{${answer}}`],
      };
    };
  },
};
