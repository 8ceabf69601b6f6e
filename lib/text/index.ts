export { ChatTemplate, openChatTemplate, type RenderOptions } from "./chat-template.ts";
export { LexiconTokenizer } from "./lexicon-tokenizer.ts";
export {
  type ChatChoice,
  chatFormat,
  type PromptFormat,
  plainFormat,
  type Reading,
  type Task,
} from "./prompt-format.ts";
export type { DecodeOptions, EncodeOptions, SpecialTokens, TextStream, Tokenizer } from "./tokenizer.ts";
