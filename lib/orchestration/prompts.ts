import { HoneError } from "../errors.ts";
import type { Problem, Prompt } from "../records.ts";
import type { PromptFormat } from "../text/index.ts";
import type { Ticket } from "./ticket.ts";

export interface TicketedPrompt {
  readonly ticket: Ticket;
  readonly prompt: Prompt;
}

/** Throws HONE_ERR_DATA for a problem the format cannot write, or whose prompt is too long. */
export function encodePrompt(problem: Problem, format: PromptFormat, maxPromptTokens: number): Prompt {
  const tokens = format.prompt(problem);
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
  format: PromptFormat,
  maxPromptTokens: number,
): AsyncGenerator<TicketedPrompt, void, undefined> {
  for await (const ticket of tickets) {
    yield { ticket, prompt: encodePrompt(ticket.problem, format, maxPromptTokens) };
  }
}
