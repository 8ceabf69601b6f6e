import { isBlank } from "../blank.ts";
import { finalResponse } from "../final-response.ts";
import { isHedged } from "./hedge.ts";
import { CLOSING, isWord, KIND, lettersFor, NO_WORD, OPENING } from "./letters.ts";
import type { Rules } from "./rules.ts";

/**
 * The letter as training reads it: stated after the thought, in any style. Time linear in the response: no pattern
 * repeats a part that can match in more than one way.
 */
export const STRICT: Rules = {
  responseOf: finalResponse,
  isBlank,
  letterOf: (response, _, choices) => committedLetter(response, choices),
};

const SURELY = "(?:\\s{1,4}(?:therefore|thus|hence|then|clearly|indeed|definitely|simply))?";
const BE = `(?:(?:is|IS)\\b${SURELY}|(?:should|must|would|has to|will)\\s{1,4}be\\b${SURELY}|[:=：→⇒⟶]|[-=]{1,2}>|[-–—](?=\\s))`;
const ASKED = "(?:\\s{1,4}(?:to|for)\\s{1,4}(?:this|the)(?:\\s{1,4}(?:question|problem))?)?";
const LINE = "(?<=(?:^|\\n)[\\s#*_>]{0,8})";

/** "The answer is C", "answer should be (C)", "My choice: C", "**Final Answer** (C)", "### Answer", "I choose C", a box. */
const STATED = [
  `\\b(?:(?:[aA]nswer|ANSWER)${ASKED}|[aA]ns\\b\\.?|(?:[cC]orrect|[rR]ight|[bB]est|[mM]y|[fF]inal|[sS]elected|[cC]hosen)\\s{1,4}(?:${KIND}|one|statement|pick|selection))\\s{0,8}(?:\\*\\*)?\\s{0,8}${BE}\\s{0,8}[:>]?`,
  `${LINE}(?:[oO]ption|[cC]hoice|[sS]election)[*_]{0,2}\\s{0,4}:`,
  `${LINE}[aA]nswer[*_ ]{0,4}\\n`,
  `${LINE}[aA]nswer[*_]{0,2}\\s{1,2}(?=[*_]{0,2}[({\\[])`,
  "\\b[fF]inal\\s{1,4}[aA]nswer\\b\\s{0,8}:?",
  `\\bI(?:['’](?:d|ll|m))?\\s{1,4}(?:would\\s{1,4}|will\\s{1,4})?(?:choose|select|pick|go(?:ing)?\\s{1,4}with)\\b`,
  "<answer>",
  "\\\\boxed\\{",
].join("|");
/** "Option C is correct", "(C) must be the right answer". */
const JUDGED = `\\s{1,4}(?:is|should\\s{1,4}be|must\\s{1,4}be|would\\s{1,4}be)\\s{1,4}(?:the\\s{1,4})?(?:correct|right|best|answer)(?:\\s{1,4}(?:answer|option|choice|one))?(?=\\s{0,4}(?:[.,;:!*]|$|because\\b|since\\b))`;
/**
 * "It's C", "Select (C)", "Therefore: C", "Hence, C": only at the beginning of a sentence that ends there or
 * continues with a reason.
 */
const SHORT =
  "(?<=(?:^|[.!?:;*_>\\n])\\s{0,4}[*_]{0,2})(?:(?:[sS]o\\s{1,4}|[tT]hus,?\\s{1,4}|[hH]ence,?\\s{1,4}|[tT]herefore,?\\s{1,4})?[iI]t(?:['’]s|\\s{1,4}(?:is|must\\s{1,4}be))|[sS]elect|[cC]hoose|[pP]ick|(?:[tT]herefore|[tT]hus|[hH]ence|[sS]o|[cC]onclusion)\\b\\s{0,2}[:,]?)";

/** Text after the letter: the end of its sentence, or a reason. */
const ENDS = `${CLOSING}\\s{0,4}(?:[.;!\\n]|$|,?\\s{0,4}(?:because|since)\\b)`;

/** Patterns compiled once for the letters that a response may name. */
interface Patterns {
  readonly chosen: RegExp;
  readonly open: RegExp;
  readonly alone: RegExp;
  readonly labelled: RegExp;
  readonly line: RegExp;
}
const made = new Map<string, Patterns>();

function patternsFor(letters: string): Patterns {
  const known = made.get(letters);
  if (known !== undefined) return known;
  const either = `[${letters}${letters.toLowerCase()}]`;
  const alone = `[\\s*_$({\\[]{0,8}(?:(?:[oO]ption|[cC]hoice)\\s{1,4}[*_({\\[]{0,4})?(?<letter>${either})[*_$)}\\]. \\t]{0,8}`;
  const patterns = {
    chosen: new RegExp(
      `(?:(?:${STATED}|(?<short>${SHORT})(?=${OPENING}(?:${KIND}${OPENING})?${either}${NO_WORD}${ENDS}))(?<opening>${OPENING}(?:${KIND}${OPENING})?)(?<letter>${either})|(?<![\\p{L}\\p{N}_'’\\\\])(?<kind>${KIND}\\s{1,4})?(?<judged>[*_$({\\[]{0,4})(?=[${letters}]${CLOSING}${JUDGED})(?<own>[${letters}]))${NO_WORD}`,
      "gu",
    ),
    open: new RegExp(
      `(?:${STATED})${OPENING}(?:both|either|none|any|all|unclear|unknown|ambiguous|undetermined)\\b`,
      "giu",
    ),
    alone: new RegExp(`^${alone}\\s{0,8}$`),
    labelled: new RegExp(
      `^[*_(]{0,4}(?<letter>[${letters}])(?:\\)|[.:])[ *_]{1,4}(?!\\p{Ll}+\\s(?:is|are|was|has|have|can|does|causes?)\\b)(?!.*\\b(?:[${letters}][).]|not|incorrect|wrong|false|never|or)(?:\\b|\\s))[^\\n]{1,200}$`,
      "u",
    ),
    line: new RegExp(`(?<=^|\\n)${alone}(?=\\n|$)`, "g"),
  };
  made.set(letters, patterns);
  return patterns;
}

/** Text after the letter: a question mark, which retracts it. */
const ASKS = new RegExp(`^${CLOSING}[\\s!(]{0,3}\\?`);
/** Text after a lower-case letter: the end of its clause or of the enclosing brackets. */
const CLOSES = /^\)(?=\s)|^[)}\]*_$"'”’`]{0,8}\s{0,4}(?:[.,;!\n]|$|<\/)/;
/** Words before a judgement, in its sentence, that make it a supposition, a question or a denial. */
const SUPPOSED =
  /\b(?:if|whether|not|never|neither|nor|unless|assum\w+|suppos\w+|claim\w*|says?|argue\w*|why|doubt\w*|might|could)\b[^.!?\n]*$|n['’]t\b[^.!?\n]*$/i;
/** Words before "answer is" that make it a supposition or a denial. "If" and "not" further away refer to something else. */
const DENIED =
  /\b(?:if|whether|unless|assum\w+|suppos\w+|doubt\w*|wrong|incorrect|false|untrue)\s{1,4}(?:that\s{1,4})?(?:(?:the|my|our)\s{1,4})?(?:(?:correct|right|final|best)\s{1,4})?$/i;
/** Text before a letter without brackets or "option"; after anything else it is the letter of "plan B". */
const BEFORE_BARE = /(?:^|[.!?:,;*\n]|\b(?:that|so|thus|hence|therefore))\s{0,4}$/i;
/** Another letter, with any brackets, right before a judged one: "A and C is correct". */
const PAIRED = /[\p{Lu}][)\]}*_$]{0,4}\s{0,4}(?:,|\/|&|and|or)\s{0,4}$/u;
/** Text between two statements that marks the second as a correction. */
const CORRECTS = /[.!?\n]|\b(?:no|wait|actually|rather|sorry|instead|correction|mean)\b/i;
const BEFORE_CHARS = 60;
const AFTER_CHARS = 480;

/** A line that begins with an option's letter: it lists options and chooses none. */
const LISTED = /(?:^|\n)\s{0,4}[*_([-]{0,4}\s{0,2}[A-Z][*_]{0,2}[).:\]]/;

/** A letter named by a statement; undefined if the statement names two. */
interface Statement {
  readonly letter: string | undefined;
  readonly named: string;
  readonly end: number;
}

/**
 * The last letter that is stated as the answer: in a box, after "answer is" or "answer should be", or judged the
 * correct option; or the response if it is a single letter. Undefined if the last statement is hedged. An unmarked
 * "A" or "I" before a lower-case word is an article or pronoun; a lower-case letter counts at the end of its clause.
 */
export function committedLetter(response: string, choices = 10): string | undefined {
  const letters = lettersFor(choices);
  const patterns = patternsFor(letters);
  let last: Statement | undefined;
  for (const match of response.matchAll(patterns.chosen)) {
    const named = namedLetter(match, response);
    if (named === undefined) continue;
    const end = match.index + match[0].length;
    const between = last && response.slice(last.end, match.index);
    const isDouble = between !== undefined && last!.named !== named && !CORRECTS.test(between);
    const isOpen = isDouble || isHedged(named, response.slice(end, end + AFTER_CHARS), letters);
    last = { letter: isOpen ? undefined : named, named, end };
  }
  if (last === undefined) return loneLetter(response.trim(), letters);
  const isLeftOpen = [...response.slice(last.end).matchAll(patterns.open)].length > 0;
  return isLeftOpen ? undefined : last.letter;
}

/** The letter of a match of `chosen`, as a capital; undefined if the surrounding words retract it. */
function namedLetter(match: RegExpExecArray, response: string): string | undefined {
  const { opening, short, kind, judged, letter, own } = match.groups as Partial<Record<string, string>>;
  const end = match.index + match[0].length;
  const after = response.slice(end, end + AFTER_CHARS);
  const before = response.slice(Math.max(0, match.index - BEFORE_CHARS), match.index);
  if (own !== undefined) {
    const isBare = kind === undefined && judged === "";
    const isOther = SUPPOSED.test(before) || PAIRED.test(before) || (isBare && !BEFORE_BARE.test(before));
    return isOther ? undefined : own;
  }
  const isSmall = letter !== letter!.toUpperCase();
  const isBracketed = /[({]$/.test(opening!) && /^[)}]/.test(after);
  if (isSmall && !isBracketed && (short !== undefined || !CLOSES.test(after))) return undefined;
  const isArticle = isWord(letter!, after) && /^\s*$/.test(opening!) && !match[0].startsWith("\\");
  if (isArticle || DENIED.test(before) || ASKS.test(after)) return undefined;
  return letter!.toUpperCase();
}

/** For a response without a statement: the letter that is the whole response, its label, or its last line. */
function loneLetter(response: string, letters: string): string | undefined {
  const { alone, labelled, line } = patternsFor(letters);
  const whole = alone.exec(response)?.groups?.["letter"];
  if (whole !== undefined) return whole.toUpperCase();
  const label = labelled.exec(response)?.groups?.["letter"];
  if (label !== undefined)
    return isHedged(label, response.slice(response.indexOf(label) + 1), letters) ? undefined : label;
  const lines = [...response.matchAll(line)];
  const only = lines.length === 1 ? lines[0] : undefined;
  const isLast = only !== undefined && only.index + only[0].length === response.length;
  if (!isLast || LISTED.test(response.slice(0, only.index))) return undefined;
  return only.groups!["letter"]!.toUpperCase();
}
