import { z } from "zod";
import { checkedReference } from "../checked.ts";
import { extractAnswer } from "../response-format.ts";
import { correct, unparsable, type Verifier, wrong } from "../verifier.ts";
import { FACTS } from "./facts.ts";

const MAX_TABLE_BITS = 64;
const referenceSchema = z.object({
  table: z
    .string()
    .regex(/^[01]+$/)
    .max(MAX_TABLE_BITS),
});
type Reference = z.infer<typeof referenceSchema>;

/** Truth table of a formula: one bit per assignment, assignments in counting order; all must be right. */
export const truthTable: Verifier<Reference> = {
  ...FACTS.truthTable,
  parseReference: (raw) => checkedReference(referenceSchema, raw, "truth-table", "{ table }"),

  verify(completion, { table }) {
    const extracted = extractAnswer(completion, 2 * MAX_TABLE_BITS);
    if ("verdict" in extracted) return extracted.verdict;
    const { answer } = extracted;
    if (!/^[01]+$/.test(answer)) return unparsable("not a row of bits");
    if (answer.length !== table.length) return wrong(`${answer.length} bits for ${table.length} assignments`);
    return answer === table ? correct("truth table") : wrong("another truth table");
  },
};
