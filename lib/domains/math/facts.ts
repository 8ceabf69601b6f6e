import type { VerifierFacts } from "../verifier.ts";

/** Facts about the verifiers of this domain that are available without loading them. */
export const FACTS = {
  math: { name: "math", version: 3 },
  residue: { name: "residue", version: 1 },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
