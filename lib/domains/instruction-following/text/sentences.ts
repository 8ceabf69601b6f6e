import { SPACE, trim } from "../../../python/text.ts";

/** Placeholders for a dot that ends no sentence and for the end of a sentence; responses do not contain them. */
const DOT = "<prd>";
const STOP = "<stop>";

const STARTERS = `(?:Mr|Mrs|Ms|Dr|Prof|Capt|Cpt|Lt|He[${SPACE}]|She[${SPACE}]|It[${SPACE}]|They[${SPACE}]|Their[${SPACE}]|Our[${SPACE}]|We[${SPACE}]|But[${SPACE}]|However[${SPACE}]|That[${SPACE}]|This[${SPACE}]|Wherever)`;
const SUFFIXES = "(Inc|Ltd|Jr|Sr|Co)";
const ACRONYM = "([A-Z][.][A-Z][.](?:[A-Z][.])?)";

/** Rules that mark the ends of sentences, applied in this order, each to the output of the previous one. */
const REWRITES: readonly (readonly [pattern: RegExp, replacement: string | ((match: string) => string)])[] = [
  [/\n/g, " "],
  [/(Mr|St|Mrs|Ms|Dr)[.]/g, `$1${DOT}`],
  [/[.](com|net|org|io|gov|edu|me)/g, `${DOT}$1`],
  // Consumes both digits, so the second dot of "1.2.3" ends a sentence.
  [/([0-9])[.]([0-9])/g, `$1${DOT}$2`],
  [/\.{2,}/g, (dots) => DOT.repeat(dots.length) + STOP],
  [/Ph\.D\./g, `Ph${DOT}D${DOT}`],
  [new RegExp(`[${SPACE}]([A-Za-z])[.] `, "g"), ` $1${DOT} `],
  [new RegExp(`${ACRONYM} (${STARTERS})`, "g"), `$1${STOP} $2`],
  [/([A-Za-z])[.]([A-Za-z])[.]([A-Za-z])[.]/g, `$1${DOT}$2${DOT}$3${DOT}`],
  [/([A-Za-z])[.]([A-Za-z])[.]/g, `$1${DOT}$2${DOT}`],
  [new RegExp(` ${SUFFIXES}[.] (${STARTERS})`, "g"), ` $1${STOP} $2`],
  [new RegExp(` ${SUFFIXES}[.]`, "g"), ` $1${DOT}`],
  [/ ([A-Za-z])[.]/g, ` $1${DOT}`],
  [/\.”/g, "”."],
  [/\."/g, '".'],
  [/!"/g, '"!'],
  [/\?"/g, '"?'],
  [/[.?!]/g, (end) => end + STOP],
  [/<prd>/g, "."],
];

/**
 * Sentences by IFEval's rule-based splitter: titles, web domains, decimals, acronyms and company suffixes keep their
 * dots, every other `.`, `?` and `!` ends a sentence. Each is trimmed ("Hi!!" is "Hi!", "!"). Line ends count as spaces.
 * Source: IFEval, Zhou et al. 2023, `split_into_sentences` of its published checkers.
 */
export function splitSentences(text: string): string[] {
  let marked = ` ${text}  `;
  for (const [pattern, replacement] of REWRITES) {
    marked =
      typeof replacement === "string"
        ? marked.replace(pattern, replacement)
        : marked.replace(pattern, replacement);
  }
  const sentences = marked.split(STOP).map(trim);
  if (sentences.at(-1) === "") sentences.pop();
  return sentences;
}
