import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { checkedReference } from "../checked.ts";
import { finalResponse } from "../final-response.ts";
import { correct, noAnswer, type Verifier, wrong } from "../verifier.ts";
import type { Compat } from "../verify-case.ts";
import { committedLetter, gpqaLetter, mmluProLetter } from "./letter.ts";

const STYLES = ["gpqa", "mmlu-pro"] as const;

const referenceSchema = z.object({
  answer: z.string().regex(/^[A-J]$/),
  choices: z.int().min(2).max(10),
  style: z.enum(STYLES),
  /** Where the row's options went, and the seed that sent them there: kept for reports, not judged. */
  order: z.array(z.int().min(0)).optional(),
  seed: z.int().min(0).optional(),
  compat: z.enum(["reference", "strict"]).optional(),
});

export interface ChoiceReference {
  readonly answer: string;
  readonly choices: number;
  readonly style: (typeof STYLES)[number];
  readonly compat: Compat;
}

/**
 * Multiple choice: the letter that the response commits to must be the right one. The reference is { answer: "C",
 * choices: 4, style: "gpqa" | "mmlu-pro", order?, seed?, compat? }; strict unless said.
 * Strict reads what follows the thought and takes the last letter that is stated as the answer (see committedLetter),
 * or a response that is a letter and nothing else. Reference finds the letter as the
 * benchmark's own harness does. A response without a letter is wrong in both: nothing is drawn at random.
 * Source: simple-evals (GPQA), MMLU-Pro's evaluation, whose random last resort is left out.
 */
export const choice: Verifier<ChoiceReference> = {
  name: "choice",
  version: 1,

  parseReference(raw) {
    const shape = "{ answer, choices, style }";
    const {
      answer,
      choices,
      style,
      compat = "strict",
    } = checkedReference(referenceSchema, raw, "choice", shape);
    if (answer.charCodeAt(0) - 65 >= choices) {
      throw new HoneError("HONE_ERR_DATA", `choice: answer ${answer} is none of ${choices} choices`);
    }
    return { answer, choices, style, compat };
  },

  verify({ text }, { answer, choices, style, compat }) {
    const response = compat === "strict" ? finalResponse(text) : text;
    if (response.trim() === "") return noAnswer("blank response");
    const letter = find(response, style, compat);
    if (letter === undefined) return wrong("no letter found");
    if (compat === "strict" && letter.charCodeAt(0) - 65 >= choices) return wrong(`no option ${letter}`);
    return letter === answer ? correct(`chose ${letter}`) : wrong(`chose ${letter}`);
  },
};

function find(response: string, style: ChoiceReference["style"], compat: Compat): string | undefined {
  if (compat === "strict") return committedLetter(response);
  return style === "gpqa" ? gpqaLetter(response) : mmluProLetter(response);
}
