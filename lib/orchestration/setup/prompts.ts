import { HoneError } from "../../errors.ts";
import type { Problem, Prompt } from "../../records.ts";
import type { PromptFormat } from "../../text/index.ts";

/** Throws HONE_ERR_DATA for a problem the format cannot write, or whose prompt is too long. */
export function encodePrompt(problem: Problem, format: PromptFormat, maxPromptTokens: number): Prompt {
  const tokens = format.prompt(problem);
  if (tokens.length > maxPromptTokens) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `the prompt of problem ${problem.id} (${problem.domain}/${problem.family}) takes ${tokens.length} tokens, rollouts.maxPromptTokens is ${maxPromptTokens}`,
      { details: { problem: problem.id, tokens: tokens.length } },
    );
  }
  return { problem, tokens };
}

/**
 * Encodes a run's problems; keeps each encoding, so that a problem that `fault` checked is not encoded again.
 */
export class PromptEncoder {
  readonly #format: PromptFormat;
  readonly #maxPromptTokens: number;
  readonly #known = new WeakMap<Problem, Prompt>();

  constructor(format: PromptFormat, maxPromptTokens: number) {
    this.#format = format;
    this.#maxPromptTokens = maxPromptTokens;
  }

  /** Throws what encodePrompt throws. */
  encode(problem: Problem): Prompt {
    const prompt = this.#known.get(problem) ?? encodePrompt(problem, this.#format, this.#maxPromptTokens);
    this.#known.set(problem, prompt);
    return prompt;
  }

  /** Why a problem cannot be prompted (HONE_ERR_DATA); undefined if it can. */
  fault(problem: Problem): HoneError | undefined {
    try {
      this.encode(problem);
      return undefined;
    } catch (error) {
      if (HoneError.is(error) && error.code === "HONE_ERR_DATA") return error;
      throw error;
    }
  }
}
