/**
 * Characters that are invisible when they stand alone: white space, controls, formats, lone surrogates, private and
 * unassigned code points, marks without a letter, default-ignorable characters (the Hangul fillers among them), and
 * letters and symbols drawn as a gap (Braille blank, null note head, blank hieroglyphs) or that replace a lost
 * character (U+FFFC, U+FFFD).
 */
const INVISIBLE =
  "\\p{C}\\p{Z}\\p{M}\\p{Default_Ignorable_Code_Point}\\u2800\\uFFFC\\uFFFD\\u{13441}\\u{13442}\\u{1D159}";
const VISIBLE = new RegExp(`[^${INVISIBLE}]`, "u");
const WORD = new RegExp(`(?![${INVISIBLE}])[\\p{L}\\p{N}]`, "u");

/** Special tokens of chat templates as a completion spells them: `<|im_end|>`, `</s>`, `<end_of_turn>`. */
const TOKENS = /<[|｜][\w▁ ]{1,40}[|｜]>|<\/?s>|<(?:bos|eos|pad|unk|(?:start|end)_of_turn)>/g;

/**
 * True if a text has no visible character except special tokens. All domains that judge strictly reject such
 * answers.
 */
export const isBlank = (text: string): boolean => !VISIBLE.test(text.replace(TOKENS, ""));

/**
 * True if a text has no visible letter or digit except in special tokens. Punctuation and emoji (".", "***", "👍")
 * are not words.
 */
export const isWordless = (text: string): boolean => !WORD.test(text.replace(TOKENS, ""));
