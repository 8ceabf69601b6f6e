import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { checkedReference } from "../checked.ts";
import { compatField, type JudgedTwoWays } from "../compat.ts";
import { correct, noAnswer, type Verifier, wrong } from "../verifier.ts";
import { FACTS } from "./facts.ts";
import { MOST_CHOICES } from "./letters.ts";
import { REFERENCE } from "./reference.ts";
import type { Rules, Style } from "./rules.ts";
import { STRICT } from "./strict.ts";

const RULES: JudgedTwoWays<Rules> = { reference: REFERENCE, strict: STRICT };

const referenceSchema = z.object({
  answer: z.string().regex(/^[A-Z]$/),
  choices: z.int().min(2).max(MOST_CHOICES),
  style: z.enum(["gpqa", "mmlu-pro"]),
  /** The order of the row's options, and the seed of that order: kept for reports, ignored by the verifier. */
  order: z.array(z.int().min(0)).optional(),
  seed: z.int().min(0).optional(),
  compat: compatField,
});

export interface ChoiceReference {
  readonly answer: string;
  readonly choices: number;
  readonly style: Style;
  readonly rules: Rules;
}

/**
 * Multiple choice: the letter that the response commits to must be the right one. The reference is { answer: "C",
 * choices: 4, style: "gpqa" | "mmlu-pro", order?, seed?, compat? }, with up to 26 choices; compat is strict by
 * default. Strict reads the text after the thought and takes the last letter stated as the answer (see
 * committedLetter), or a response that is a single letter. Reference finds the letter as the
 * benchmark's own harness does. A response without a letter is wrong in both: no random guess is made.
 */
export const choice: Verifier<ChoiceReference> = {
  ...FACTS.choice,

  parseReference(raw) {
    const shape = "{ answer, choices, style }";
    const { answer, choices, style, compat } = checkedReference(referenceSchema, raw, "choice", shape);
    if (isBeyond(answer, choices)) {
      throw new HoneError("HONE_ERR_DATA", `choice: answer ${answer} is none of ${choices} choices`);
    }
    return { answer, choices, style, rules: RULES[compat] };
  },

  verify({ text }, { answer, choices, style, rules }) {
    const response = rules.responseOf(text);
    if (rules.isBlank(response)) return noAnswer("blank response");
    const letter = rules.letterOf(response, style, choices);
    if (letter === undefined) return wrong("no letter found");
    if (isBeyond(letter, choices)) return wrong(`no option ${letter}`);
    return letter === answer ? correct(`chose ${letter}`) : wrong(`chose ${letter}`);
  },
};

const isBeyond = (letter: string, choices: number): boolean => letter.charCodeAt(0) - 65 >= choices;
