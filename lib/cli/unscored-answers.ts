import { problemName } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import type { Scoreboard } from "../evaluation/index.ts";
import type { PinnedPolicy } from "../orchestration/index.ts";
import type { Problem } from "../records.ts";

/** Counts and reports held-out answers without a verdict: they are outages and enter no score. */
export class UnscoredAnswers {
  /** Lost answers by domain or validation set. */
  readonly #lost = new Map<string, { count: number; cause: string }>();

  readonly #policy: Pick<PinnedPolicy, "sources" | "sets">;

  constructor(policy: Pick<PinnedPolicy, "sources" | "sets">) {
    this.#policy = policy;
  }

  readonly note = ({ domain, id }: Problem, causes: readonly string[], set?: string): void => {
    const name = set ?? domain;
    const before = this.#lost.get(name);
    const { sources, sets } = this.#policy;
    const source = set === undefined ? sources.get(domain) : sets.get(set)?.source;
    const cause = before?.cause ?? `${problemName(source, id)}: ${causes[0]}`;
    this.#lost.set(name, { count: (before?.count ?? 0) + causes.length, cause });
  };

  get told(): string[] {
    return [...this.#lost].map(
      ([name, { count, cause }]) =>
        `warning: ${count} held-out answer(s) of ${name} got no verdict and are in no score; the first, to ${cause}`,
    );
  }

  /** Throws HONE_ERR_VERIFIER for a domain or validation set without a single verdict. */
  expectEach({ domains, sets: scored = {} }: Scoreboard): void {
    const { sources, sets } = this.#policy;
    const isLost = (name: string) =>
      this.#lost.has(name) && !Object.hasOwn(domains, name) && !Object.hasOwn(scored, name);
    const lost = [...sources.keys(), ...sets.keys()].find(isLost);
    if (lost === undefined) return;
    const { cause } = this.#lost.get(lost)!;
    throw new HoneError(
      "HONE_ERR_VERIFIER",
      `no held-out answer of ${lost} could be judged; the first, to ${cause}`,
      {
        details: { domain: lost },
        hint: "Repair the verifier; `npx hone check <recipe>` tries every verifier.",
      },
    );
  }
}
