import { z } from "zod";
import { type DatasetOptions, fill, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";
import { LETTERS, letterChoices } from "./choices.ts";

export interface MmluProOptions extends DatasetOptions {
  /** Shuffles the options by this seed. Default: the order of the row, as published. */
  readonly seed?: number | undefined;
}

const rowSchema = z.object({
  question: z.string().trim().min(1),
  options: z.array(z.string()).min(2).max(LETTERS.length),
  answer: z.string(),
  answer_index: z.int().min(0),
  category: z.string().min(1),
});

const TEMPLATE =
  'This is a multiple choice question about {category}. Think step by step and end with "the answer is (X)" where X is the letter of the right choice.\n\n{task}';
/** Text that the data set has in place of a removed option. */
const REMOVED = "N/A";

/**
 * MMLU-Pro and sets of its shape: up to 26 options (MMLU-Pro has ten) in fourteen categories, asked without
 * examples; for evaluation only.
 * Source: data set card TIGER-Lab/MMLU-Pro and its evaluation.
 */
export const mmluPro: RowReader<MmluProOptions> = {
  domain: "choice",
  verifier: "choice",
  options: { seed: z.int().min(0).optional() },
  benchmark: true,
  columns: Object.keys(rowSchema.shape),
  open({ template = TEMPLATE, seed }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      if (row.answer !== LETTERS[row.answer_index]) return { bad: "answer: not the letter of answer_index" };
      const right = row.options[row.answer_index];
      if (right === undefined || right === REMOVED) return { bad: "answer_index: no such option" };
      // The published options omit N/A from the end, so the letters of answer_index stay valid.
      const kept = row.options.flatMap((option, place) => (option === REMOVED ? [] : [place]));
      const options = kept.map((place) => row.options[place]!);
      const content = `${row.question}\n${options.join("\n")}`;
      const { lines, answer, order } = letterChoices(
        options,
        kept.indexOf(row.answer_index),
        content,
        seed,
        ".",
      );
      const shape = template.replaceAll("{category}", () => row.category);
      return {
        content,
        question: fill(shape, `${row.question}\n\n${lines}`),
        family: row.category,
        level: 0,
        reference: {
          answer,
          choices: options.length,
          style: "mmlu-pro",
          ...(seed !== undefined && { order, seed }),
        },
        gold: () => [`The answer is (${answer}).`],
      };
    };
  },
};
