import { STARVED_TIMES } from "../../sandbox/python-sandbox.ts";
import type { VerifierFacts } from "../verifier.ts";

/** Wall time for all tests of a problem, in milliseconds. */
export const MAX_TOTAL_MS = 60_000;

/**
 * The sandbox enforces each problem's time limit. This longer limit catches only a stuck thread, even on a
 * very busy machine.
 */
const limits = { timeoutMs: STARVED_TIMES * MAX_TOTAL_MS + 60_000 };

/** Facts about the verifiers of this domain that are available without loading them. */
export const FACTS = {
  code: { name: "code", version: 4, limits },
  checker: { name: "checker", version: 1, limits },
  expression: { name: "expression", version: 1 },
  assertions: { name: "assertions", version: 1, limits },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
