import type { VerifierFacts } from "../verifier.ts";

/** Facts about the verifiers of this domain that are available without loading them. */
export const FACTS = {
  logic: { name: "logic", version: 3 },
  truthTable: { name: "truth-table", version: 1 },
  latinSquare: { name: "latin-square", version: 1 },
  countdown: { name: "countdown", version: 1 },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
