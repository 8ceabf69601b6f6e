import type { VerifierFacts } from "../verifier.ts";

/** What is known of the verifiers of this domain without loading them. */
export const FACTS = {
  math: { name: "math", version: 3 },
  residue: { name: "residue", version: 1 },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
