import { CLOSING, isWord, KIND, NO_WORD, OPENING } from "./letters.ts";

/** Words that join one option with another. */
const BESIDE =
  "(?:or|and|also|either|both|alternatively|maybe|perhaps|possibly|probably|unless|even|then|but|though|although|plus|versus|vs|to|through|as well as|und|oder|ou|y|o|e)";
/** Text between two joined letters: punctuation, fonts, joining words; a period only inside a list of letters. */
const CONNECTOR = `(?:[\\s*_$(){}\\[\\]"'“”‘’\`,;:/&|+=<>~→⇒⟶↔–—\\\\-]|\\\\?(?:boxed|text|textbf|textit|mathrm|mathbf|quad|qquad|cup|lor|vee|wedge|land|cap|to|rightarrow|implies)\\b|\\b${BESIDE}\\b\\.?|${KIND}\\b|\\.(?!\\s|$)|…|和|或|与|及|、|，)`;
/** Words which show, anywhere in the sentence that names an option, that the choice is still open. */
const OPEN =
  "(?:or|also|either|both|alternatively|maybe|perhaps|possibly|unless|equally|likewise|as well|(?:could|might|may|can)(?:\\s{1,4}(?:also|well|equally|just as well)){0,2}\\s{1,4}be)";
/** More options in a list: "A, B and D are wrong". */
const MORE = `(?:\\s{0,2}(?:,|&|,?\\s?and|,?\\s?or)\\s{1,2}\\(?[A-Z]\\)?(?=[\\s,])){0,8}`;
/** Text that denies another option, when it follows that option. */
const DENIED_BEHIND = new RegExp(
  `^${CLOSING}${MORE}[\\s,]{0,4}(?:(?:is|are|was|were|being|would be|seems?|looks?|can(?:not|['’]t)|does(?:n['’]t| not)|do(?:n['’]t| not)|isn['’]t|aren['’]t|fails?|has|have|which)\\b)[^.;!?\\n]{0,40}?(?:\\b(?:not|wrong|incorrect|false|impossible|excluded|eliminated|ruled out|too|fails?|invalid|irrelevant|smaller|larger|tempting|no)\\b|n['’]t\\b)|^${CLOSING}\\s{1,4}(?:fails?|cannot|can['’]t|doesn['’]t|isn['’]t)\\b`,
  "iu",
);
/** Text that denies another option, when it precedes that option. */
const DENIED_BEFORE =
  /\b(?:not|never|neither|nor|rather than|instead of|than|unlike|except|excluding|excludes?|rules? out|ruling out|eliminat\w+|reject\w*|against|over)\s{1,4}(?:option\s|choice\s|answer\s|the\s){0,2}[\s*_$({["'“‘`]{0,4}$|n['’]t\s{1,4}(?:option\s)?[\s*_$({["'“‘`]{0,4}$/i;
/** Words before an option's letter that cannot be part of a name; after any other word it may be the D of "vitamin D". */
const FUNCTION_WORD =
  /\b(?:and|or|nor|xor|else|by|then|with|to|vs|versus|also|maybe|perhaps|possibly|probably|likely|but|not|is|be|as|otherwise|either|both|first|second|then|next|option|choice|answer|letter|alternatively|even|than|of|the|if|when|while|for|from|on|in|at)$/i;
const REASON = /\b(?:because|since|given that|due to)\b/i;
/** Text between an option's letter and the option's own words. */
const LABELLED = /^[*_]{0,2}(?:[)\]][*_]{0,2}[.:]?|[.:])[*_]{0,2}\s+(?=\S)|^\s[-–—]\s/;
const SENTENCE = /(?<!\bvs)[.!?](?=\s|$)|\n/;
const SCOPE_CHARS = 240;

/** Patterns compiled once for a set of option letters. */
interface Patterns {
  readonly beside: RegExp;
  readonly bare: RegExp;
  readonly open: RegExp;
  readonly listed: RegExp;
  readonly later: readonly RegExp[];
}
const made = new Map<string, Patterns>();

function patternsFor(letters: string): Patterns {
  const known = made.get(letters);
  if (known !== undefined) return known;
  const other = `${OPENING}(?:${KIND}\\s{1,4})?[*_$({\\[]{0,4}(?<other>[${letters}]|(?<=[({[])[${letters.toLowerCase()}](?=[)}\\]]))${NO_WORD}`;
  const patterns = {
    beside: new RegExp(`^${CONNECTOR}{1,16}?(?<other>[${letters}${letters.toLowerCase()}])${NO_WORD}`, "iu"),
    bare: new RegExp(`(?<![\\p{L}\\p{N}_'’])(?<other>[${letters}])${NO_WORD}`, "gu"),
    open: new RegExp(`\\b${OPEN}\\b[^.!?\\n]{0,40}?${other}`, "giu"),
    listed: new RegExp(
      `^${CLOSING}[.,;]?\\s{1,8}[*_$({\\[]{0,4}(?<other>[${letters}])${CLOSING}[.,;]?\\s{0,4}(?:[\\n<]|$)`,
      "u",
    ),
    later: [
      `(?:or|alternatively|maybe|perhaps|possibly|unless)\\b[,:]?\\s{1,4}(?:it['’]s\\s|it\\sis\\s|it\\scould\\sbe\\s|even\\s|the\\sanswer\\sis\\s){0,2}${other}(?=${CLOSING}\\s{0,4}(?:[.,;!?<]|$|is\\b))`,
      `${other}(?=${CLOSING}\\s{1,4}(?:is|are|would be|could be|might be|may be|can be|works?)\\s{1,4}(?:also|equally|just as|too|likewise|possible|right|correct|the answer|acceptable))`,
      `(?:second|alternative|backup|other|another|next best)\\s(?:choice|answer|option)\\s{0,2}(?:is|:)\\s{0,2}${other}`,
    ].map((next) => new RegExp(`(?:^|[.!?\\n])\\s{0,4}(?:but\\s|however,?\\s|though\\s)?${next}`, "giu")),
  };
  made.set(letters, patterns);
  return patterns;
}

/**
 * True if a statement that chooses an option also names another, or leaves open which it is: "C or D", "C; D", "C (D
 * is also right)", "[C][D]", "C. Or D." Another option does not count if it is denied ("not D", "D is wrong"), occurs
 * in the option's own words ("C) vitamin D"), or occurs in a reason, unless that says "or D", "also D".
 * @param after text that follows the letter
 */
export function isHedged(letter: string, after: string, letters: string): boolean {
  const { beside, bare, open, listed, later } = patternsFor(letters);
  const scope = after.slice(0, SCOPE_CHARS);
  const sentence = upTo(scope, SENTENCE);
  const names = (match: RegExpMatchArray, text: string): boolean => {
    const other = match.groups!["other"] ?? "";
    const at = match.index! + match[0].length;
    const behind = text.slice(at);
    const before = text.slice(0, at - other.length);
    if (other.toUpperCase() === letter || isArticle(other, before, behind)) return false;
    return !DENIED_BEFORE.test(before) && !DENIED_BEHIND.test(behind);
  };
  const first = beside.exec(sentence) ?? listed.exec(scope);
  if (first !== null && names(first, scope)) return true;
  const reason = sentence.search(REASON);
  const isApart = (match: RegExpExecArray): boolean => {
    const before = sentence.slice(0, match.index).replace(/[\s*_$({["'“‘`]+$/, "");
    if (reason >= 0 && match.index > reason) return /[,;(]$/.test(before);
    const isOwn = LABELLED.test(sentence) && /\p{L}{3,}$/u.test(before) && !FUNCTION_WORD.test(before);
    return !isOwn;
  };
  if ([...sentence.matchAll(bare)].some((match) => isApart(match) && names(match, sentence))) return true;
  if ([...sentence.matchAll(open)].some((match) => names(match, sentence))) return true;
  const more = after.slice(0, SCOPE_CHARS * 2);
  return later.flatMap((pattern) => [...more.matchAll(pattern)]).some((match) => names(match, more));
}

/**
 * True if a letter is an article or pronoun: a lower-case letter is an option only in brackets or at the end of its
 * clause; "a cat", "A cat" and "I think" name no option.
 */
function isArticle(letter: string, before: string, behind: string): boolean {
  if (/[({[]$/.test(before)) return false;
  if (isWord(letter, behind)) return true;
  return letter !== letter.toUpperCase() && !/^[\s*_$)\]}"'”’`]{0,4}(?:[.,;:!?)}\]]|$)/.test(behind);
}

function upTo(text: string, end: RegExp): string {
  const at = text.search(end);
  return at < 0 ? text : text.slice(0, at);
}
