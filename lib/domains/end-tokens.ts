/** Excludes special tokens that end a tool call, not a turn. */
const OF_CALLS = "(?![^|｜]{0,40}(?:tool|call|action|python|plugin))";
/**
 * Tokens that end a turn in published models' tokenizers: `</s>`, `<eos>`, `<|im_end|>`,
 * `<｜end▁of▁sentence｜>`.
 */
const END = new RegExp(
  `(?:</s>|<eos>|<end_of_turn>|\\[EOS\\]|<[|｜]${OF_CALLS}[\\p{L}\\p{N}_▁]{1,40}[|｜]>)$`,
  "iu",
);
const LONGEST = 48;

/** The text without the tokens that end it, and without white space before and between them. */
export function withoutEndTokens(text: string): string {
  let kept = text;
  for (;;) {
    const trimmed = kept.trimEnd();
    const token = END.exec(trimmed.slice(-LONGEST));
    if (token === null) return kept === text ? text : trimmed;
    kept = trimmed.slice(0, trimmed.length - token[0].length);
  }
}
