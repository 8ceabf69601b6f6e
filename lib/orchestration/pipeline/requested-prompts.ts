import type { Prompt } from "../../records.ts";
import type { PromptEncoder } from "../setup/index.ts";
import type { GroupRequest } from "./group-request.ts";

export interface RequestedPrompt {
  readonly request: GroupRequest;
  readonly prompt: Prompt;
}

/** Writes the prompt of each group. Throws what PromptEncoder.encode throws. */
export async function* encodePrompts(
  requests: AsyncIterable<GroupRequest>,
  encoder: PromptEncoder,
): AsyncGenerator<RequestedPrompt, void, undefined> {
  for await (const request of requests) yield { request, prompt: encoder.encode(request.problem) };
}
