import type { VerifierFacts } from "../verifier.ts";

/** What is known of the verifiers of this domain without loading them. */
export const FACTS = {
  instructionFollowing: { name: "instruction-following", version: 4, limits: { timeoutMs: 5000 } },
  wordList: { name: "word-list", version: 1 },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
