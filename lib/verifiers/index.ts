import {
  CASE_DOMAINS,
  type Compat,
  type Completion,
  loadCaseReader,
  openProblemSource,
} from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import type { Problem, Verdict } from "../records.ts";
import { VerifierPool } from "../rewards/index.ts";

export type { ProblemSource } from "../data/problem-source.ts";
export type { Compat, Completion } from "../domains/index.ts";
export { ConfigError, type ErrorCode, HoneError } from "../errors.ts";
export type { FinishReason, Problem, ScoredVerdict, UnscoredVerdict, Verdict } from "../records.ts";
export { type PythonEnd, type PythonRun, type RunPythonOptions, runPython } from "./run-python.ts";

/** Options for judging completions. */
export interface VerifiersOptions {
  /** Processes that judge at the same time. Default 1. */
  readonly workers?: number;
  /** Milliseconds per completion if its verifier sets no limit. Default 2000. */
  readonly timeoutMs?: number;
  /** `reference` reproduces the verdicts of the reference implementations, faults included. Default strict. */
  readonly compat?: Compat;
  /** Verifiers of your own: name to the URL of a `.js` or `.ts` module that exports `verify`. */
  readonly modules?: Readonly<Record<string, string | URL>>;
}

/** Fields of a domain's case, a completion among them: docs/reference/verify.md. */
export type VerifierCase = Readonly<Record<string, unknown>>;

const asCompletion = (given: string | Completion): Completion =>
  typeof given === "string" ? { text: given, finish: "stop" } : given;

/**
 * Judges completions in processes of its own. A completion that hangs or exhausts its process's memory scores
 * 0; a fault of ours or of the case makes it `unscored`, with the cause.
 */
export class Verifiers implements AsyncDisposable {
  readonly #pool: VerifierPool;
  readonly #compat: Compat;
  #cases = 0;

  /** Starts nothing; a process starts with the first completion. */
  constructor({ compat = "strict", ...options }: VerifiersOptions = {}) {
    this.#pool = new VerifierPool(options);
    this.#compat = compat;
  }

  /**
   * The verdict on a case of a domain: `judge("math", { response: "\\boxed{1/2}", gold: "0.5" })`. Throws HONE_ERR_USAGE for
   * an unknown domain, HONE_ERR_DATA for a case without its fields, HONE_ERR_STATE after close().
   * @param folder of files that the case names
   */
  async judge(domain: string, given: VerifierCase, folder = "."): Promise<Verdict> {
    const reader = await loadCaseReader(domain);
    if (reader === undefined)
      throw new HoneError("HONE_ERR_USAGE", `no verifier judges the domain ${JSON.stringify(domain)}`, {
        hint: `Known domains: ${CASE_DOMAINS.join(", ")}.`,
      });
    const { verifier, completion, reference } = await reader(given, folder);
    const problem = { ...this.#blank(domain), verifier: verifier.name, reference };
    return (await this.judgeAnswers(problem, [completion]))[0]!;
  }

  /**
   * Verdicts on completions of one problem, in their order. A plain text counts as a completion that ended by itself.
   * @param problem from openProblems(), or your own: `verifier` names a built-in one or one of `modules`
   */
  judgeAnswers(problem: Problem, completions: readonly (string | Completion)[]): Promise<Verdict[]> {
    const reference =
      this.#compat === "strict"
        ? problem.reference
        : { ...(problem.reference as object), compat: this.#compat };
    const asked = { ...problem, reference };
    return this.#pool.verify(completions.map((given) => ({ problem: asked, ...asCompletion(given) })));
  }

  /** Lets running completions end, each within its limit, and stops the processes. Safe to call twice. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /** close(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #blank(domain: string): Pick<Problem, "id" | "domain" | "family" | "level" | "question"> {
    this.#cases += 1;
    return { id: this.#cases, domain, family: domain, level: 0, question: "" };
  }
}

/** Options of a problem source. */
export interface ProblemsOptions {
  /** Seed of the draws, a safe integer >= 0: a source with one seed always draws the same problems. Default 1. */
  readonly seed?: number;
}

/**
 * Opens a source of problems: generated ones by name ("procedural/math"), a data set as "kind:path", or a module of your
 * own by its path. Throws HONE_ERR_CONFIG, listing the known names, for any other; HONE_ERR_DATA for data that cannot be read.
 */
export function openProblems(source: string, { seed = 1 }: ProblemsOptions = {}) {
  return openProblemSource(source, { seed, ordinal: 0 });
}
