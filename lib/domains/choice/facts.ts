import type { VerifierFacts } from "../verifier.ts";

/** What is known of the verifiers of this domain without loading them. */
export const FACTS = {
  choice: { name: "choice", version: 3 },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
