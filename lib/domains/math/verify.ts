import { z } from "zod";
import { checkedReference } from "../checked.ts";
import { compatField, type JudgedTwoWays } from "../compat.ts";
import type { Verifier } from "../verifier.ts";
import { MARKERS, type Marker } from "./answer-line.ts";
import { FACTS } from "./facts.ts";
import { judgeBox, type Rules, readGold } from "./judging.ts";
import type { Reading } from "./reading.ts";
import { judgePair, REFERENCE } from "./reference.ts";
import { STRICT } from "./strict.ts";

const RULES: JudgedTwoWays<Rules> = { reference: REFERENCE, strict: STRICT };

const MOST_ANSWERS = 64;

/**
 * Answers that all rules can read. They are parsed only when a completion is judged, because a run checks the
 * references of all rows before its first step, and parsing a million of them took five seconds.
 */
const WHOLE_NUMBER = /^-?\d{1,15}$/;

const referenceSchema = z.object({
  answer: z.union([z.string(), z.array(z.string()).min(1).max(MOST_ANSWERS)]),
  after: z.enum(MARKERS).optional(),
  compat: compatField,
  anywhere: z.boolean().optional(),
});

type Golds = readonly [Reading, ...Reading[]];

export interface MathReference {
  readonly rules: Rules;
  /** Gold answers, each of which is right. */
  readonly golds: Golds;
  /** Marker after which the completion may state its answer, if not in a box. */
  readonly after: Marker | undefined;
  /** The unparsed gold answer, if the completion may state its answer anywhere. */
  readonly text?: string;
}

interface Judging extends Pick<MathReference, "rules" | "after"> {
  readonly anywhere: boolean | undefined;
}

/** A class, because creating an object with its own getter costs as much as reading the rest of a row. */
class GoldAnswers implements MathReference {
  readonly rules: Rules;
  readonly after: Marker | undefined;
  readonly text?: string;
  readonly #answer: string | readonly string[];
  #golds: Golds | undefined;

  constructor(answer: string | readonly string[], { rules, after, anywhere }: Judging) {
    this.#answer = answer;
    this.rules = rules;
    this.after = after;
    if (anywhere) this.text = [answer].flat()[0]!;
  }

  get golds(): Golds {
    this.#golds ??= [this.#answer].flat().map((one) => readGold(one, this.rules)) as unknown as Golds;
    return this.#golds;
  }
}

/**
 * Free-form mathematics: the last `\boxed{}` of the completion must equal the gold answer as a number, expression,
 * relation, set, tuple, interval or matrix. Only that box is read; units, fonts and spacing do not count.
 * The reference is { answer, after?, compat?, anywhere? }: the gold answer in LaTeX, with or without its own box, or a
 * list of answers of which each is right; strict unless said; what follows the last `after` ("Answer:", "####") counts
 * as a box does, the later of the two (see lastStated); `anywhere` takes an answer outside a box too, as the
 * reference's own suite does (see sameAnswer).
 * Strict reads only what follows the last `</think>`; text around the box and a cut-off end do not matter.
 * Every verdict is bounded: at most 1,000 characters are parsed and a fixed budget of work is spent for each gold answer.
 * Source: Math-Verify 0.8 as PipelineRL calls it for the Open-Reasoner-Zero rows; strict mode closes its exploits.
 */
export const math: Verifier<MathReference> = {
  ...FACTS.math,

  parseReference(raw) {
    const shape = "{ answer, after?, compat?, anywhere? }";
    const { answer, after, compat, anywhere } = checkedReference(referenceSchema, raw, "math", shape);
    const reference = new GoldAnswers(answer, { rules: RULES[compat], after, anywhere });
    if (typeof answer !== "string" || !WHOLE_NUMBER.test(answer)) reference.golds; // throws the errors of parsing
    return reference;
  },

  verify({ text: completion }, { rules, golds, after, text }) {
    if (text !== undefined) return judgePair(text, completion);
    const verdicts = golds.map((gold) => judgeBox(completion, gold, rules, after));
    return verdicts.find(({ status }) => status === "correct") ?? verdicts[0]!;
  },
};
