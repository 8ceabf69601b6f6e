import type { VerifierFacts } from "../verifier.ts";

/** Facts about the verifiers of this domain that are available without loading them. */
export const FACTS = {
  choice: { name: "choice", version: 3 },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
