import { Judge, type JudgeOptions } from "./judge.ts";

/** Outcome of one small question to a judge. */
export type Probe =
  | { readonly score: number; readonly milliseconds: number }
  | { readonly fault: string; readonly hint: string };

/** Time limit for one reply; a judge that needs longer for a simple sum is too slow for training. */
const LONGEST_MS = 30_000;

/**
 * Asks a judge once about the right answer to a simple sum, bypassing cache and budget. Resolves with its score, or
 * with the reason why it cannot judge and the remedy. Never rejects.
 */
export async function probeJudge(options: JudgeOptions): Promise<Probe> {
  const timeoutMs = Math.min(options.timeoutMs, LONGEST_MS);
  using judge = new Judge({ ...options, timeoutMs, samplings: 1, retries: 0, cache: false, budget: {} });
  const begun = performance.now();
  const verdict = await judge.judge({
    prompt: "What is 2 + 3? Answer with the number alone.",
    completion: "5",
    answer: "5",
    finish: "eos",
    reference: reference(options),
    signal: new AbortController().signal,
  });
  if (verdict.status !== "unscored") return { score: verdict.score, milliseconds: performance.now() - begun };
  return { fault: verdict.cause, hint: hintFor(verdict.cause, options) };
}

/** The right answer, or, for a comparison, a wrong one, at the path where the judge looks for it. */
function reference({ kind, against }: JudgeOptions): unknown {
  const value = kind === "pairwise" ? "I do not know." : "5";
  return (against?.split(".") ?? []).reduceRight<unknown>((inner, field) => ({ [field]: inner }), value);
}

function hintFor(cause: string, { apiKeyEnv, maxTokens }: JudgeOptions): string {
  const status = /the server says (\d+)/.exec(cause)?.[1];
  if (/is not set in the environment/.test(cause)) return `Set it: export ${apiKeyEnv}=...`;
  if (status === "401" || status === "403")
    return apiKeyEnv === undefined
      ? "The server asks for a key: name the environment variable that holds it in judge.apiKeyEnv."
      : `The server refuses the key in ${apiKeyEnv}.`;
  if (status === "404") return "Check judge.url, which ends before /chat/completions, and judge.model.";
  if (status !== undefined) return "Check judge.model and the server's log.";
  if (/no verdict in|not a chat completion/.test(cause))
    return `The model answers, but not in the requested form: choose a larger model, or a larger judge.maxTokens (${maxTokens} now, its thinking included).`;
  if (/no answer within/.test(cause))
    return "Check that the server has loaded the model and is not overloaded.";
  return "Start the server, or check judge.url.";
}
