export { type ChatMessage, ChatTemplate, openChatTemplate, type RenderOptions } from "./chat-template.ts";
export { LexiconTokenizer } from "./lexicon-tokenizer.ts";
export type { DecodeOptions, EncodeOptions, SpecialTokens, TextStream, Tokenizer } from "./tokenizer.ts";
