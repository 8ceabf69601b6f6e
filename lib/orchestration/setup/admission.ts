import type { Admission } from "../../data/index.ts";
import { loadBuiltIn, referenceFault, type Verifier } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import type { Problem } from "../../records.ts";
import type { PromptFormat } from "../../text/index.ts";
import { encodePrompt } from "./prompts.ts";

/** The recipe's fields that decide which rows are usable. */
export interface RunLimits {
  readonly rollouts: { readonly maxPromptTokens: number };
  readonly verification: { readonly modules: Readonly<Record<string, string>> };
}

/**
 * Admits rows of data sets that a run can use: the verifier can read their reference, and the prompt can be
 * encoded and is short enough. Does not ask verifiers of the user's own (verification.modules), which live in
 * workers.
 */
export function admissionOf(
  { rollouts: { maxPromptTokens }, verification: { modules } }: RunLimits,
  format: PromptFormat,
): Admission {
  const verifiers = new Map<string, Verifier | undefined>();
  const refused = new RecentFaults();
  const faultOf: (problem: Omit<Problem, "id">) => string | undefined = (problem) => {
    const { verifier, reference } = problem;
    const fault = refused.of(verifier, reference, () => referenceFault(verifiers.get(verifier), reference));
    return fault ?? promptFault(problem, format, maxPromptTokens);
  };
  const load = async (name: string) => {
    verifiers.set(name, Object.hasOwn(modules, name) ? undefined : await loadBuiltIn(name));
  };
  return (problem) =>
    verifiers.has(problem.verifier) ? faultOf(problem) : load(problem.verifier).then(() => faultOf(problem));
}

const MOST_KEPT = 1 << 13;
const LONGEST_KEPT = 64;
/** The cache is used only while at least one reference in this many is found in it. */
const LEAST_FOUND = 4;

/** Recent faults of short references, many of which are equal. */
class RecentFaults {
  readonly #known = new Map<string, string | undefined>();
  #asked = 0;
  #found = 0;

  of(verifier: string, reference: unknown, judge: () => string | undefined): string | undefined {
    this.#asked += 1;
    // If nearly every reference is new, caching their texts costs more than it saves.
    if (this.#asked > MOST_KEPT && this.#found * LEAST_FOUND < this.#asked) return judge();
    const key = `${verifier}\n${JSON.stringify(reference)}`;
    if (key.length > LONGEST_KEPT) return judge();
    if (this.#known.has(key)) this.#found += 1;
    else {
      if (this.#known.size === MOST_KEPT) this.#known.clear();
      this.#known.set(key, judge());
    }
    return this.#known.get(key);
  }
}

function promptFault(
  problem: Omit<Problem, "id">,
  format: PromptFormat,
  maxPromptTokens: number,
): string | undefined {
  const most = format.mostTokens?.(problem);
  if (most !== undefined && most <= maxPromptTokens) return undefined;
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
