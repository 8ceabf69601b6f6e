import { QUICKSTART_LEXICON } from "../../domains/index.ts";
import { openTokenizer } from "../../native/tokenizer.ts";
import {
  type ChatChoice,
  chatFormat,
  LexiconTokenizer,
  type PromptFormat,
  plainFormat,
  type Tokenizer,
} from "../../text/index.ts";

/** The prompt format as plain data, so that every thread can open the same one. */
export interface PromptPlace {
  /** Folder of the model whose tokenizer and chat template to open; undefined for the built-in lexicon. */
  readonly folder?: string | undefined;
  readonly chat?: ChatChoice | undefined;
  readonly stopIds?: readonly number[] | undefined;
}

/** Throws what openTokenizer and chatFormat throw. */
export function openPrompts({ folder, chat, stopIds }: PromptPlace): {
  readonly tokenizer: Tokenizer;
  readonly format: PromptFormat;
} {
  if (folder === undefined) {
    const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
    return { tokenizer, format: plainFormat(tokenizer, stopIds) };
  }
  const tokenizer = openTokenizer(folder);
  return { tokenizer, format: chatFormat(folder, tokenizer, { ...chat, stopIds }) };
}
