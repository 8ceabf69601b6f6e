import { z } from "zod";
import { fields, trim } from "../../../python/text.ts";
import { isWordless } from "../../blank.ts";
import { noArguments, phrase } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import type { ResponseText } from "../text/response-text.ts";
import { withoutClosing, withoutPunctuation } from "./punctuation.ts";

/** English stop words without those with an apostrophe, which no `\w+` run can match. */
const STOP_WORDS = new Set(
  (
    "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself " +
    "it its itself they them their theirs themselves what which who whom this that these those am is are was were be " +
    "been being have has had having do does did doing a an the and but if or because as until while of at by for with " +
    "about against between into through during before after above below to from up down in out on off over under " +
    "again further then once here there when where why how all any both each few more most other some such no nor " +
    "not only own same so than too very s t can will just don should now d ll m o re ve y ain aren couldn didn doesn " +
    "hadn hasn haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn"
  ).split(" "),
);

const percentage = z.number().nonnegative();

/** Number of statements, questions and exclamations. @param endOf returns a sentence up to its mark */
function countSentences({ sentences }: ResponseText, endOf: (sentence: string) => string) {
  const endingIn = (mark: string) => sentences.filter((one) => endOf(one).endsWith(mark)).length;
  return { stated: endingIn("."), asked: endingIn("?"), exclaimed: endingIn("!") };
}
type Counts = ReturnType<typeof countSentences>;

/** A sentence may end in a quote after its mark, and contains a word. Zero of each is not a ratio. */
const inRatio =
  (holds: (counts: Counts) => boolean): (() => Check) =>
  () =>
  (response) => {
    const counts = countSentences(response, withoutClosing);
    return counts.asked > 0 && holds(counts) && !response.sentences.some(isMarkAlone);
  };

/** In the reference a sentence that ends in a quote ends in no mark, and a text without any mark passes. */
const inRatioAsReference =
  (holds: (counts: Counts) => boolean): (() => Check) =>
  () =>
  (response) =>
    holds(countSentences(response, (sentence) => sentence));

/** True for a "." or "?" without a word before it. */
const isMarkAlone = (sentence: string): boolean => isWordless(sentence) && /[.?!]/.test(sentence);
const isWritten = (text: string): boolean => !isWordless(text);

const twiceAsOftenStated = ({ stated, asked }: Counts): boolean => stated === 2 * asked;
const balanced = ({ stated, asked, exclaimed }: Counts): boolean => stated === asked && exclaimed === asked;

/** Distinct runs of three characters (code points). */
function trigrams(text: string): Set<string> {
  const chars = [...text];
  const found = new Set<string>();
  for (let k = 2; k < chars.length; k += 1) found.add(chars[k - 2]! + chars[k - 1]! + chars[k]!);
  return found;
}

/** Percentage of the text's distinct trigrams that occur in the reference text; undefined if the text has none. */
function overlapPercent(text: string, reference: ReadonlySet<string>): number | undefined {
  const own = trigrams(text);
  if (own.size === 0) return undefined;
  let shared = 0;
  for (const trigram of own) if (reference.has(trigram)) shared += 1;
  return (shared / own.size) * 100;
}

const charCount = (sentence: string): number => [...trim(sentence)].length;

const threeOfALength = ({ sentences }: ResponseText): boolean =>
  sentences.length === 3 && new Set(sentences.map(charCount)).size === 1;

function allDifferentWords({ sentences }: ResponseText): boolean {
  const words = fields(withoutPunctuation(sentences.join(" ").toLowerCase()));
  return new Set(words).size === words.length && sentences.every(isWritten);
}

function hasFewStopWords(words: readonly string[], mostPercent: number): boolean {
  const stops = words.filter((word) => STOP_WORDS.has(word.toLowerCase())).length;
  return words.length > 0 && (stops / words.length) * 100 <= mostPercent;
}

/**
 * Constraints on shares and ratios of words and sentences. Source: IFBench, Pyatkin et al. 2025,
 * out-of-domain constraints.
 */
export const RATIO: ConstraintTable = {
  // Runs of "_" are words to the reference, and no stop words.
  "ratio:stop_words": constraint(
    z.object({ percentage }),
    (args) => (response) => hasFewStopWords(response.words.filter(isWritten), args.percentage),
    (args) => (response) => hasFewStopWords(response.words, args.percentage),
  ),
  "ratio:sentence_type": constraint(
    noArguments,
    inRatio(twiceAsOftenStated),
    inRatioAsReference(twiceAsOftenStated),
  ),
  "ratio:sentence_balance": constraint(noArguments, inRatio(balanced), inRatioAsReference(balanced)),
  "ratio:overlap": constraint(z.object({ reference_text: phrase, percentage }), (args) => {
    const reference = trigrams(args.reference_text);
    return ({ raw }) => {
      const percent = overlapPercent(raw, reference);
      return percent !== undefined && args.percentage - 2 <= percent && percent <= args.percentage + 2;
    };
  }),
  // The prompt asks for "using all different words", which the reference does not check.
  "ratio:sentence_words": constraint(
    noArguments,
    () => (response) => threeOfALength(response) && allDifferentWords(response),
    () => threeOfALength,
  ),
};
