import type { Admission } from "../../data/index.ts";
import { loadBuiltIn, referenceFault, type Verifier } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import type { Problem } from "../../records.ts";
import type { PromptFormat } from "../../text/index.ts";
import { encodePrompt } from "./prompts.ts";

/** The part of a recipe that decides. */
interface RunLimits {
  readonly rollouts: { readonly maxPromptTokens: number };
  readonly verification: { readonly modules: Readonly<Record<string, string>> };
}

/**
 * Keeps rows of data sets that a run can use: the verifier can read their reference, and the prompt can be encoded and is short enough.
 * Verifiers of the user's own (verification.modules) are not asked, they live in workers.
 */
export function admissionOf(
  { rollouts: { maxPromptTokens }, verification: { modules } }: RunLimits,
  format: PromptFormat,
): Admission {
  const verifiers = new Map<string, Verifier | undefined>();
  return async (problem) => {
    const { verifier: name, reference } = problem;
    if (!verifiers.has(name)) {
      verifiers.set(name, Object.hasOwn(modules, name) ? undefined : await loadBuiltIn(name));
    }
    return referenceFault(verifiers.get(name), reference) ?? promptFault(problem, format, maxPromptTokens);
  };
}

function promptFault(
  problem: Omit<Problem, "id">,
  format: PromptFormat,
  maxPromptTokens: number,
): string | undefined {
  try {
    encodePrompt({ ...problem, id: 0 }, format, maxPromptTokens);
    return undefined;
  } catch (error) {
    if (!HoneError.is(error) || error.code !== "HONE_ERR_DATA") throw error;
    return Object.hasOwn(error.details, "tokens")
      ? `prompt longer than ${maxPromptTokens} tokens`
      : "prompt the tokenizer cannot spell";
  }
}
