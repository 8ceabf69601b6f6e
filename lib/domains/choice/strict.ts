import { isBlank } from "../blank.ts";
import { finalResponse } from "../final-response.ts";
import type { Rules } from "./rules.ts";

/**
 * The letter as training reads it: stated after the thought, in any style. Time linear in the response: no pattern
 * repeats a part that can match in more than one way.
 */
export const STRICT: Rules = { responseOf: finalResponse, isBlank, letterOf: committedLetter };

/** What may stand around a letter: emphasis, brackets, a font, a box. Bounded, so that no run is tried twice over. */
const OPENING = "(?:[\\s*_$({\\[\"'“‘`]|\\\\(?:boxed|text|textbf|mathrm|mathbf|\\()\\{?){0,8}";
const CLOSING = "[)\\]}*_$\"'”’`]{0,8}";
const NO_WORD = "(?![\\p{L}\\p{N}_+#]|['’]\\p{L})";
const SURELY = "(?:\\s{1,4}(?:therefore|thus|hence|then|clearly|indeed|definitely|simply))?";
const BE = `(?:(?:is|IS)\\b${SURELY}|(?:should|must|would|has to|will)\\s{1,4}be\\b${SURELY}|[:=]|[-–—](?=\\s))`;
const ASKED = "(?:\\s{1,4}(?:to|for)\\s{1,4}(?:this|the)(?:\\s{1,4}(?:question|problem))?)?";
/** A letter; a small one in brackets. */
const LETTER = "(?<letter>[A-J]|(?<=[({])[a-j](?=[)}]))";
const KIND = "(?:[oO]ption|[cC]hoice|[lL]etter)";

/** "The answer is C", "answer should be (C)", "the correct option is C", "**Final Answer** (C)", "I choose C", a box. */
const STATED = [
  `\\b(?:(?:[aA]nswer|ANSWER)${ASKED}|[aA]ns\\b\\.?|(?:[cC]orrect|[rR]ight|[bB]est)\\s{1,4}(?:${KIND}|one|statement))\\s{0,8}(?:\\*\\*)?\\s{0,8}${BE}\\s{0,8}:?`,
  "\\b[fF]inal\\s{1,4}[aA]nswer\\b\\s{0,8}:?",
  `\\bI\\s{1,4}(?:would\\s{1,4})?(?:choose|select|pick)\\b`,
  "<answer>",
  "\\\\boxed\\{",
].join("|");
/** "Option C is correct", "(C) must be the right answer". */
const JUDGED = `\\s{1,4}(?:is|should\\s{1,4}be|must\\s{1,4}be|would\\s{1,4}be)\\s{1,4}(?:the\\s{1,4})?(?:correct|right|best|answer)(?:\\s{1,4}(?:answer|option|choice|one))?(?=\\s{0,4}(?:[.,;:!*]|$|because\\b|since\\b))`;
/** "It's C", "Select (C)", "Therefore: C": only where a sentence begins with it and nothing but a reason follows. */
const SHORT =
  "(?<=(?:^|[.!?:;*_>\\n])\\s{0,4}[*_]{0,2})(?:(?:[sS]o\\s{1,4}|[tT]hus,?\\s{1,4}|[hH]ence,?\\s{1,4}|[tT]herefore,?\\s{1,4})?[iI]t(?:['’]s|\\s{1,4}(?:is|must\\s{1,4}be))|[sS]elect|[cC]hoose|[pP]ick|(?:[tT]herefore|[tT]hus|[hH]ence|[sS]o|[cC]onclusion)\\s{0,2}:)";
const CHOSEN = new RegExp(
  `(?:(?:${STATED}|(?<short>${SHORT}))(?<opening>${OPENING}(?:${KIND}${OPENING})?)|(?<![\\p{L}\\p{N}_'’\\\\])(?<kind>${KIND}\\s{1,4})?(?<judged>[*_$({\\[]{0,4})(?=[A-J]${CLOSING}${JUDGED}))${LETTER}${NO_WORD}`,
  "gu",
);
const HEDGE =
  "(?:or|and|alternatively|maybe|perhaps|possibly|unless)\\b(?:\\s{1,4}(?:maybe|perhaps|possibly|even))?";
/** After the letter: a question mark, which takes it back. */
const ASKS = new RegExp(`^${CLOSING}\\?`);
/** After the letter: another one beside it, so that none is chosen. */
const ANOTHER = new RegExp(
  `^${CLOSING}(?:\\s{0,4}(?:\\\\text\\{\\s{0,4})?(?:[,;]?\\s{0,4}\\(?${HEDGE}|/|&|\\|)\\s{0,4}\\}?|,)${OPENING}(?:${KIND}\\s{1,4})?[*_$({\\[]{0,4}[A-J]${NO_WORD}(?!\\s\\p{Ll})`,
  "u",
);
/** After the letter: the end of its sentence, or a reason. */
const ENDS = new RegExp(`^${CLOSING}\\s{0,4}(?:[.;!\\n]|$|,?\\s{0,4}(?:because|since)\\b)`);
/** Before a judgement, in its sentence: words that suppose, ask or deny it. */
const SUPPOSED =
  /\b(?:if|whether|not|never|neither|nor|unless|assum\w+|suppos\w+|claim\w*|says?|argue\w*|why|doubt\w*|might|could)\b[^.!?\n]*$|n['’]t\b[^.!?\n]*$/i;
/** Before "answer is": words that suppose or deny it. "If" and "not" further away speak of something else. */
const DENIED =
  /\b(?:if|whether|unless|assum\w+|suppos\w+|doubt\w*|wrong|incorrect|false|untrue)\s{1,4}(?:that\s{1,4})?(?:(?:the|my|our)\s{1,4})?(?:(?:correct|right|final|best)\s{1,4})?$/i;
/** Text before a letter without brackets or "option"; after anything else it is the letter of "plan B". */
const BEFORE_BARE = /(?:^|[.!?:,;*\n]|\b(?:that|so|thus|hence|therefore))\s{0,4}$/i;
const BEFORE_CHARS = 60;
const AFTER_CHARS = 40;
/** A response that is nothing but its letter, or a line of it with its option: "Option C", "C) 42", "**C. 42**". */
const ALONE =
  /^[\s*_$({[]{0,8}(?:(?:[oO]ption|[cC]hoice)\s{1,4}[*_({[]{0,4})?([A-J])[\s*_$)}\].]{0,8}$|^[*_(]{0,4}([A-J])(?:\)|(?<=^\*\*[A-J])[.:])[ *_]{1,4}(?!.*\b(?:[A-J][).]|not|incorrect|wrong|false|never|or)(?:\b|\s))[^\n]{1,200}$/;

/**
 * The last letter that is stated as the answer, in a box, after "answer is" or "answer should be", or judged to be the
 * correct option; or the response if it is a letter. None where the last statement names two. An unmarked "A" or "I"
 * before a word in small letters is an article or a pronoun.
 */
export function committedLetter(response: string): string | undefined {
  let last: string | undefined;
  let stated = false;
  for (const match of response.matchAll(CHOSEN)) {
    const { opening, short, kind, judged, letter } = match.groups as Partial<Record<string, string>> & {
      letter: string;
    };
    const end = match.index + match[0].length;
    const after = response.slice(end, end + AFTER_CHARS);
    if (opening === undefined) {
      const before = response.slice(Math.max(0, match.index - BEFORE_CHARS), match.index);
      const bare = kind === undefined && judged === "";
      if (SUPPOSED.test(before) || (bare && !BEFORE_BARE.test(before))) continue;
    } else if (short !== undefined && !ENDS.test(after)) {
      continue;
    } else if (isWord(letter, opening, match[0], after) || isTakenBack(response, match.index, after))
      continue;
    stated = true;
    last = ANOTHER.test(after) ? undefined : letter.toUpperCase();
  }
  const alone = stated ? null : ALONE.exec(response.trim());
  return stated ? last : (alone?.[1] ?? alone?.[2]);
}

/** "Suppose the answer is C", "The wrong answer is C", "The answer is C? No." */
const isTakenBack = (response: string, at: number, after: string): boolean =>
  DENIED.test(response.slice(Math.max(0, at - BEFORE_CHARS), at)) || ASKS.test(after);

/** "The answer is A because": an article or a pronoun, not a letter. */
const isWord = (letter: string, opening: string, whole: string, after: string): boolean =>
  (letter === "A" || letter === "I") &&
  /^ \p{Ll}/u.test(after) &&
  /^\s*$/.test(opening) &&
  !whole.startsWith("\\");
