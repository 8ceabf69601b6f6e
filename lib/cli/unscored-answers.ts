import { HoneError } from "../errors.ts";
import type { Problem } from "../records.ts";

/** Held-out answers without a verdict: an outage, which is reported and counted and gives no score. */
export class UnscoredAnswers {
  readonly #domains = new Map<string, { count: number; cause: string }>();

  readonly note = ({ domain, id }: Problem, causes: readonly string[]): void => {
    const before = this.#domains.get(domain);
    const cause = before?.cause ?? `problem ${id}: ${causes[0]}`;
    this.#domains.set(domain, { count: (before?.count ?? 0) + causes.length, cause });
  };

  get told(): string[] {
    return [...this.#domains].map(
      ([domain, { count, cause }]) =>
        `warning: ${count} held-out answer(s) of ${domain} got no verdict and are in no score; the first, to ${cause}`,
    );
  }

  /** Throws HONE_ERR_VERIFIER for a domain without a single verdict. */
  expectEach(domains: readonly string[], scored: readonly string[]): void {
    const lost = domains.find((domain) => !scored.includes(domain) && this.#domains.has(domain));
    if (lost === undefined) return;
    const { cause } = this.#domains.get(lost)!;
    throw new HoneError(
      "HONE_ERR_VERIFIER",
      `no held-out answer of ${lost} could be judged; the first, to ${cause}`,
      {
        details: { domain: lost },
        hint: "Repair the verifier; `npx hone check <recipe>` tries every one.",
      },
    );
  }
}
