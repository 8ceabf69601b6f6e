/**
 * Characters that show nothing by themselves: white space, controls, formats, lone surrogates, private and unassigned
 * code points, marks without a letter, what a font may leave out, and the letters and symbols that are drawn as a gap
 * (Braille blank, null note head, blank hieroglyphs) or stand for a character that is lost (U+FFFC, U+FFFD). The Hangul
 * fillers are among what a font may leave out.
 */
const INVISIBLE =
  "\\p{C}\\p{Z}\\p{M}\\p{Default_Ignorable_Code_Point}\\u2800\\uFFFC\\uFFFD\\u{13441}\\u{13442}\\u{1D159}";
const VISIBLE = new RegExp(`[^${INVISIBLE}]`, "u");
const WORD = new RegExp(`(?![${INVISIBLE}])[\\p{L}\\p{N}]`, "u");

/** Special tokens of chat templates as a completion spells them: `<|im_end|>`, `</s>`, `<end_of_turn>`. */
const TOKENS = /<[|｜][\w▁ ]{1,40}[|｜]>|<\/?s>|<(?:bos|eos|pad|unk|(?:start|end)_of_turn)>/g;

/** Whether a text has no visible character, special tokens apart: a blank answer, in every domain that judges strictly. */
export const isBlank = (text: string): boolean => !VISIBLE.test(text.replace(TOKENS, ""));

/** Whether a text has no visible letter and no digit, special tokens apart. Marks and pictures alone (".", "***", "👍") are no words. */
export const isWordless = (text: string): boolean => !WORD.test(text.replace(TOKENS, ""));
