import { z } from "zod";
import { checkedReference } from "../checked.ts";
import { extractAnswer } from "../response-format.ts";
import { fraction, type Verifier } from "../verifier.ts";
import { FACTS } from "./facts.ts";

const word = z.string().regex(/^[a-z]+$/);
const constraintsSchema = z
  .strictObject({
    count: z.int().positive().optional(),
    include: word.optional(),
    start: word.optional(),
    end: word.optional(),
    avoid: word.optional(),
    case: z.enum(["uppercase", "lowercase"]).optional(),
  })
  .refine((constraints) => Object.keys(constraints).length > 0, "at least one constraint");
const referenceSchema = z.object({ constraints: constraintsSchema, lexicon: z.array(word).min(1) });
type Reference = z.infer<typeof referenceSchema>;
type Constraints = Reference["constraints"];

const MAX_ANSWER_CHARS = 2000;

/** Names of the constraints that the answer breaks. */
function broken(answer: string, constraints: Constraints, lexicon: readonly string[]): string[] {
  const words = answer.split(/\s+/);
  const lower = words.map((each) => each.toLowerCase());
  const known = lower.every((each) => lexicon.includes(each));
  const met: Record<keyof Constraints, () => boolean> = {
    count: () => words.length === constraints.count,
    include: () => lower.includes(constraints.include!),
    start: () => lower[0] === constraints.start,
    end: () => lower.at(-1) === constraints.end,
    // These two constraints require words of the lexicon, because text outside the lexicon avoids every word and may
    // have any case.
    avoid: () => known && !lower.includes(constraints.avoid!),
    case: () =>
      known && answer === (constraints.case === "uppercase" ? answer.toUpperCase() : answer.toLowerCase()),
  };
  return (Object.keys(constraints) as (keyof Constraints)[]).filter(
    (name) => constraints[name] !== undefined && !met[name](),
  );
}

/** A list of words under constraints; the score is the fraction of constraints met. */
export const wordList: Verifier<Reference> = {
  ...FACTS.wordList,
  parseReference: (raw) => checkedReference(referenceSchema, raw, "word-list", "{ constraints, lexicon }"),

  verify(completion, { constraints, lexicon }) {
    const extracted = extractAnswer(completion, MAX_ANSWER_CHARS);
    if ("verdict" in extracted) return extracted.verdict;
    const failures = broken(extracted.answer, constraints, lexicon);
    const asked = Object.values(constraints).filter((value) => value !== undefined).length;
    const reason = failures.length === 0 ? "all constraints met" : `breaks ${failures.join(", ")}`;
    return fraction((asked - failures.length) / asked, reason);
  },
};
