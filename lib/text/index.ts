export { LexiconTokenizer } from "./lexicon-tokenizer.ts";
export type { DecodeOptions, EncodeOptions, SpecialTokens, Tokenizer } from "./tokenizer.ts";
