import type { VerifierFacts } from "../verifier.ts";

/** Facts about the verifiers of this domain that are available without loading them. */
export const FACTS = {
  functionCalling: { name: "function-calling", version: 5 },
  toolCall: { name: "tool-call", version: 1 },
} as const satisfies Readonly<Record<string, VerifierFacts>>;
