import { z } from "zod";
import { checkedReference } from "../checked.ts";
import { extractAnswer } from "../response-format.ts";
import { correct, unparsable, type Verifier, wrong } from "../verifier.ts";
import { FACTS } from "./facts.ts";

const BLANK = "_";
const referenceSchema = z
  .object({
    rows: z
      .array(z.string().regex(/^[1-9_]+$/))
      .min(2)
      .max(9),
  })
  .refine(({ rows }) => rows.every((row) => row.length === rows.length), "rows must form a square");
type Reference = z.infer<typeof referenceSchema>;

const MAX_ANSWER_CHARS = 100;

/** True if the text has every symbol of 1..n exactly once. */
function isPermutation(symbols: readonly string[]): boolean {
  return (
    new Set(symbols).size === symbols.length && symbols.every((symbol) => Number(symbol) <= symbols.length)
  );
}

/**
 * A Latin square with blanks: the answer lists the missing digits row by row, and the filled square must have
 * each of 1..n once in every row and column. Any completion that does is right.
 */
export const latinSquare: Verifier<Reference> = {
  ...FACTS.latinSquare,
  parseReference: (raw) => checkedReference(referenceSchema, raw, "latin-square", "{ rows }"),

  verify(completion, { rows }) {
    const extracted = extractAnswer(completion, MAX_ANSWER_CHARS);
    if ("verdict" in extracted) return extracted.verdict;
    const digits = extracted.answer;
    if (!/^[1-9]+$/.test(digits)) return unparsable("not a row of digits");
    const cells = rows.join("");
    const blanks = cells.split(BLANK).length - 1;
    if (digits.length !== blanks) return wrong(`${digits.length} digits for ${blanks} blanks`);
    let used = 0;
    const filled = [...cells].map((cell) => (cell === BLANK ? digits[used++]! : cell));
    const n = rows.length;
    const places = Array.from({ length: n }, (_, i) => i);
    if (!places.every((row) => isPermutation(filled.slice(row * n, row * n + n))))
      return wrong("a row repeats");
    if (!places.every((column) => isPermutation(places.map((row) => filled[row * n + column]!)))) {
      return wrong("a column repeats");
    }
    return correct("latin square");
  },
};
