export { lexiconFiles, type TextFile } from "./lexicon-files.ts";
export { LexiconTokenizer } from "./lexicon-tokenizer.ts";
export { type ChatChoice, chatFormat, idsOf, type PromptFormat, plainFormat } from "./prompt-format.ts";
export type { Tokenizer } from "./tokenizer.ts";
export type { ToolCallStyle, TurnFormat } from "./turn-format.ts";
