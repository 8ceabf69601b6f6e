import { z } from "zod";
import { checkedReference } from "../checked.ts";
import { extractAnswer } from "../response-format.ts";
import { correct, unparsable, type Verifier, wrong } from "../verifier.ts";
import { FACTS } from "./facts.ts";

const referenceSchema = z
  .object({ value: z.int().nonnegative(), modulus: z.int().min(2) })
  .refine(({ value, modulus }) => value < modulus, "value must be below modulus");
type Reference = z.infer<typeof referenceSchema>;

const MAX_ANSWER_CHARS = 20;

/** Arithmetic modulo m: the answer must be the residue itself, a plain integer in 0..m-1. */
export const residue: Verifier<Reference> = {
  ...FACTS.residue,
  parseReference: (raw) => checkedReference(referenceSchema, raw, "residue", "{ value, modulus }"),

  verify(completion, { value, modulus }) {
    const extracted = extractAnswer(completion, MAX_ANSWER_CHARS);
    if ("verdict" in extracted) return extracted.verdict;
    if (!/^(0|[1-9]\d*)$/.test(extracted.answer)) return unparsable("not a plain integer");
    const given = Number(extracted.answer);
    if (!(given < modulus)) return wrong(`not a residue mod ${modulus}`);
    return given === value ? correct("residue") : wrong("another residue");
  },
};
