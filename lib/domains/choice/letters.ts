/** Text that may surround a letter: emphasis, brackets, quotes, a font, a box. Bounded, so that matching stays linear. */
export const OPENING = "(?:[\\s*_$({\\[\"'“‘`]|\\\\(?:boxed|text|textbf|mathrm|mathbf|\\()\\{?){0,8}";
export const CLOSING = "[)\\]}*_$\"'”’`]{0,8}";
/** Asserts that no letter, digit or apostrophe continues the letter into a word or name. */
export const NO_WORD = "(?![\\p{L}\\p{N}_+#]|['’]\\p{L})";
export const KIND = "(?:[oO]ption|OPTION|[cC]hoice|[lL]etter|[aA]nswer)";

/** Largest number of options: the letters of the alphabet, A first. */
export const MOST_CHOICES = 26;
/**
 * Letters A to at least this one are recognised, even if there are fewer options, so that a letter beyond the options
 * is reported as such.
 */
const LEAST = 10;

/** The letters that a response may name for this number of options: `A-J`. */
export const lettersFor = (choices: number): string =>
  `A-${String.fromCharCode(64 + Math.min(Math.max(choices, LEAST), MOST_CHOICES))}`;

/**
 * True for an article or a pronoun ("A cat", "I think"): the letter has no brackets, and the next word is
 * neither a conjunction nor a verb.
 */
export const isWord = (letter: string, after: string): boolean =>
  /^[Aa]$/.test(letter)
    ? /^\s(?!(?:and|or|rather|instead|because|since|but|not|is|are|was|could|might|may|can|would|seems?|works?|also|too)\b)\p{Ll}/u.test(
        after,
      )
    : /^[Ii]$/.test(letter) &&
      /^\s(?!(?:or|because|since|is|are|also|too|rather than|and\s\p{Lu})\b)\p{Ll}/u.test(after);
