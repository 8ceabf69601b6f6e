import { z } from "zod";
import { checked } from "../checked.ts";
import type { CaseReader } from "../verify-case.ts";
import { choice } from "./verify.ts";

const rowSchema = z
  .object({
    response: z.string().optional(),
    model_output: z.string().optional(),
    gold: z.string(),
    choices: z.int().optional(),
    style: z.enum(["gpqa", "mmlu-pro"]).optional(),
  })
  .refine(({ response, model_output }) => (response ?? model_output) !== undefined, "response is missing");

/**
 * Reads { response | model_output, gold, choices?, style? }; default: ten choices in the style of MMLU-Pro.
 */
export const readCase: CaseReader = (row) => {
  const fields = checked(rowSchema, row, "choice case", "row");
  const { response, model_output, gold, choices = 10, style = "mmlu-pro" } = fields;
  return {
    verifier: choice,
    completion: { text: response ?? model_output ?? "", finish: "stop" },
    reference: { answer: gold, choices, style },
  };
};
