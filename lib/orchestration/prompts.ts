import { HoneError } from "../errors.ts";
import type { Problem, Prompt } from "../records.ts";
import type { Tokenizer } from "../text/index.ts";
import type { Ticket } from "./ticket.ts";

export interface TicketedPrompt {
  readonly ticket: Ticket;
  readonly prompt: Prompt;
}

/** `<bos>`, if there is one, and the question, its spellings of special tokens as ordinary characters. Throws HONE_ERR_DATA if too long. */
export function encodePrompt(problem: Problem, tokenizer: Tokenizer, maxPromptTokens: number): Prompt {
  const { bos } = tokenizer.special;
  const question = tokenizer.encode(problem.question, { specials: "spell" });
  const tokens = bos === undefined ? question : Int32Array.of(bos, ...question);
  if (tokens.length > maxPromptTokens) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `problem ${problem.id} (${problem.domain}/${problem.family}) takes ${tokens.length} tokens, rollouts.maxPromptTokens is ${maxPromptTokens}`,
      { details: { problem: problem.id, tokens: tokens.length } },
    );
  }
  return { problem, tokens };
}

export async function* encodePrompts(
  tickets: AsyncIterable<Ticket>,
  tokenizer: Tokenizer,
  maxPromptTokens: number,
): AsyncGenerator<TicketedPrompt, void, undefined> {
  for await (const ticket of tickets) {
    yield { ticket, prompt: encodePrompt(ticket.problem, tokenizer, maxPromptTokens) };
  }
}
