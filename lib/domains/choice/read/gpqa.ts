import { z } from "zod";
import {
  type DatasetOptions,
  fill,
  isBad,
  type RowOutcome,
  type RowReader,
  readFields,
} from "../../../data/row-reader.ts";
import { letterChoices } from "./choices.ts";

export interface GpqaOptions extends DatasetOptions {
  /** Seed of the order of the choices, which is part of the benchmark: report it. Default 0. */
  readonly seed?: number | undefined;
}

const text = () => z.string().trim().min(1);
const rowSchema = z.object({
  Question: text(),
  "Correct Answer": text(),
  "Incorrect Answer 1": text(),
  "Incorrect Answer 2": text(),
  "Incorrect Answer 3": text(),
  "High-level domain": z.string().nullish(),
});
/** The variant with the choices in the prompt, as Open-Reasoner-Zero evaluates it. */
const letteredSchema = z.object({
  prompt: z.array(z.object({ value: text() })).min(1),
  final_answer: z.string().regex(/^[A-D]$/, "no letter from A to D"),
});

const TEMPLATE =
  'Think step by step about this multiple choice question. End with a line "Answer: X" where X is one of the letters A, B, C, D.\n\n{task}';
const BOXED_TEMPLATE = "{task}\n\nThink step by step and put the letter of your answer within \\boxed{}.";

/**
 * GPQA: four choices, shuffled by the seed; for evaluation only. Rows that bring their letters keep them.
 * Source: data set card Idavidrein/gpqa (gpqa_diamond); simple-evals, whose harness shuffles the choices.
 */
export const gpqa: RowReader<GpqaOptions> = {
  domain: "choice",
  verifier: "choice",
  options: { seed: z.int().min(0).optional() },
  benchmark: true,
  columns: Object.keys(rowSchema.shape),
  open({ template, seed = 0 }) {
    return ({ value }) => {
      if (typeof value === "object" && value !== null && Object.hasOwn(value, "prompt")) {
        return readLettered(value, template ?? BOXED_TEMPLATE);
      }
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const content = row.Question;
      const wrong = [row["Incorrect Answer 1"], row["Incorrect Answer 2"], row["Incorrect Answer 3"]];
      const options = [row["Correct Answer"], ...wrong];
      const { lines, answer, order } = letterChoices(options, 0, content, seed, ")");
      return {
        content,
        question: fill(template ?? TEMPLATE, `${content}\n\n${lines}`),
        family: row["High-level domain"]?.trim() || "gpqa",
        level: 0,
        reference: { answer, choices: 4, style: "gpqa", order, seed },
        gold: () => [`Answer: ${answer}`],
      };
    };
  },
};

function readLettered(value: unknown, template: string): RowOutcome {
  const row = readFields(letteredSchema, value);
  if (isBad(row)) return row;
  const content = row.prompt[0]!.value;
  const answer = row.final_answer;
  return {
    content,
    question: fill(template, content),
    family: "gpqa",
    level: 0,
    reference: { answer, choices: 4, style: "gpqa" },
    gold: () => [`Answer: ${answer}`],
  };
}
