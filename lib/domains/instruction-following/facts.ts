import type { VerifierFacts } from "../verifier.ts";

/** Facts about the verifiers of this domain that are available without loading them. */
export const FACTS = {
  instructionFollowing: { name: "instruction-following", version: 4, limits: { timeoutMs: 5000 } },
  wordList: { name: "word-list", version: 1 },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
