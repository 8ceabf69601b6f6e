import { z } from "zod";
import type { ScoredVerdict } from "../../records.ts";
import { isBlank } from "../blank.ts";
import { checkedReference } from "../checked.ts";
import { finalResponse } from "../final-response.ts";
import { answerBox } from "../math/answer-box.ts";
import { lastStated } from "../math/answer-line.ts";
import { boxContent } from "../math/boxed.ts";
import { compare, integer } from "../math/rational.ts";
import { correct, noAnswer, unparsable, type Verifier, wrong } from "../verifier.ts";
import { FACTS } from "./facts.ts";
import { EXACT, evaluate } from "./judging/arithmetic.ts";

const number = z.int().nonnegative();
const referenceSchema = z.object({ nums: z.array(number).min(1).max(20), target: z.int() });
type Reference = z.infer<typeof referenceSchema>;

/** Spellings used by models -> the operators of the puzzle. */
const WRITTEN: readonly (readonly [RegExp, string])[] = [
  [/\\(?:times|cdot|ast)(?![a-zA-Z])|[×⋅·∗]/g, "*"],
  [/\\div(?![a-zA-Z])|[÷∕]/g, "/"],
  [/[−–]/g, "-"],
  [/\\(?:left|right|big|Big)(?![a-zA-Z])|\\[()[\],;:! ]|\$/g, ""],
];

/**
 * Countdown: an expression of + - * / and parentheses that uses each number exactly once and equals the target, in
 * exact fractions. Reads the last `<answer>…</answer>` or `\boxed{}` after the thought; "= target" may follow it,
 * operators may be LaTeX's or Unicode's. Two alternatives joined by "or" are not an answer.
 * Source: the rows of Jiayi-Pan/Countdown-Tasks-3to4 and TinyZero's rules for them.
 */
export const countdown: Verifier<Reference> = {
  ...FACTS.countdown,
  parseReference: (raw) => checkedReference(referenceSchema, raw, "countdown", "{ nums, target }"),

  verify(completion, reference) {
    const stated = lastStated(finalResponse(completion.text), "<answer>", answerBox);
    if (stated.status !== "found") return { score: 0, status: stated.status, reason: stated.reason };
    const content = boxContent(stated.text);
    if (content === undefined || isBlank(content.text)) return noAnswer("an empty answer");
    if (!content.closed) return unparsable("braces of the answer do not match");
    const plain = WRITTEN.reduce(
      (text, [written, operator]) => text.replace(written, operator),
      content.text,
    );
    return judge(plain, reference);
  },
};

function judge(stated: string, { nums, target }: Reference): ScoredVerdict {
  const [expression, value, ...more] = stated.split("=").map((side) => side.trim());
  if (more.length > 0 || !/^[-+*/()\d\s]+$/.test(expression!))
    return unparsable("not an arithmetic expression");
  if (value !== undefined && value !== String(target)) return wrong("another value behind =");
  const used = (expression!.match(/\d+/g) ?? []).map(Number);
  if (sorted(used) !== sorted(nums)) return wrong("numbers not used exactly once");
  const found = evaluate(expression!, EXACT);
  if (found === undefined) return unparsable("not an arithmetic expression");
  return compare(found, integer(target)) === 0 ? correct("solved") : wrong("another value");
}

const sorted = (numbers: readonly number[]): string => numbers.toSorted((a, b) => a - b).join();
