import { fields, SPACE, trimEnd, WORD } from "../../../python/text.ts";

type Rewrite = readonly [pattern: RegExp, replacement: string];

const OPENING_QUOTES: readonly Rewrite[] = [
  [/[«“‘„]|`+/g, " $& "],
  [/^"/, "``"],
  [/``/g, " `` "],
  [/([ ([{<])(?:"|'')/g, "$1 `` "],
  [new RegExp(`(?<![${WORD}])'(?!(?:re|ve|ll|m|t|s|d|n)(?![${WORD}]))(?=[${WORD}])`, "giu"), "' "],
];

const PUNCTUATION: readonly Rewrite[] = [
  [/([:,])(\P{Nd})/gu, " $1 $2"],
  [/[:,](?=\n?$)/, " $& "],
  [/\.{2,}/g, " $& "],
  [/[;@#$%&]/g, " $& "],
  [/[\u2012-\u2015]/g, " $& "],
  [/[?!]/g, " $& "],
  [/([^'])' /g, "$1 ' "],
  [/[*]/g, " $& "],
  [/[[\](){}<>]/g, " $& "],
  [/--/g, " -- "],
];

const CLOSING_QUOTES: readonly Rewrite[] = [
  [/[»”’]/g, " $& "],
  [/''/g, " '' "],
  [/"/g, " '' "],
  [new RegExp(`[${SPACE}]+`, "g"), " "],
  [/([^' ])('[sS]|'[mM]|'[dD]|') /g, "$1 $2 "],
  [/([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) /g, "$1 $2 "],
];

/** Words that become two tokens: "cannot", "gonna". The white space around them is single by now. */
const TWO_IN_ONE: readonly Rewrite[] = [
  ...["can|not", "d|'ye", "gim|me", "gon|na", "got|ta", "lem|me", "more|'n"].map((pair): Rewrite => {
    const [left, right] = pair.split("|");
    return [new RegExp(`(?<![${WORD}])(${left})(${right})(?![${WORD}])`, "giu"), " $1 $2 "];
  }),
  [new RegExp(`(?<![${WORD}])(wan)(na)(?= )`, "giu"), " $1 $2 "],
  // Separates 't from is or was unless the apostrophe has separated them already, as in "gonna'tis".
  [new RegExp(` ('t)(is|was)(?![${WORD}])`, "giu"), " $1 $2 "],
];

const CLOSERS = "])}>\"'»”’ ";

/** Separates the final dot, and the closing brackets and quotes after it, from the word before it. */
function partFinalDot(sentence: string): string {
  const body = trimEnd(sentence);
  const dot = trimEnd(body, (char) => CLOSERS.includes(char)).length - 1;
  if (dot < 1 || body[dot] !== "." || body[dot - 1] === ".") return sentence;
  return `${body.slice(0, dot)} . ${body.slice(dot + 1)} `;
}

function rewrite(text: string, rules: readonly Rewrite[]): string {
  return rules.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}

/**
 * Splits sentences into words and punctuation by the conventions of the Penn Treebank: separates clitics ("do",
 * "n't"), separates a dot only at the end of a sentence, and writes straight double quotes as `` and ''.
 * @param sentences as Punkt splits them, because only a sentence's last dot is separated.
 * Source: Penn Treebank tokenization conventions, with the chevrons, curly quotes and dashes of NLTK 3.10.
 */
export function wordTokens(sentences: readonly string[]): string[] {
  return sentences.flatMap((sentence) => {
    let text = partFinalDot(rewrite(sentence, OPENING_QUOTES));
    text = ` ${rewrite(text, PUNCTUATION)} `;
    return fields(rewrite(rewrite(text, CLOSING_QUOTES), TWO_IN_ONE));
  });
}
