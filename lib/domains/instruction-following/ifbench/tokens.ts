import { punktSentences } from "../text/punkt.ts";
import { wordTokens } from "../text/treebank.ts";

const WORDLIKE = /[\p{L}\p{N}]/u;

/** Treebank-style tokens of any text; ResponseText.tokens caches the tokens of the whole response. */
export const wordTokensOf = (text: string): string[] => wordTokens(punktSentences(text));

/** The tokens that contain a letter or a numeral. */
export const wordlike = (tokens: readonly string[]): string[] =>
  tokens.filter((token) => WORDLIKE.test(token));
