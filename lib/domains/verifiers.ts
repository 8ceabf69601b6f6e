import { choice } from "./choice/verify.ts";
import { codeExpression } from "./code/expression.ts";
import { code } from "./code/verify.ts";
import { toolCall } from "./function-calling/tool-call.ts";
import { functionCalling } from "./function-calling/verify.ts";
import { instructionFollowing } from "./instruction-following/verify.ts";
import { wordList } from "./instruction-following/word-list.ts";
import { latinSquare } from "./logic/latin-square.ts";
import { truthTable } from "./logic/truth-table.ts";
import { logic } from "./logic/verify.ts";
import { residue } from "./math/residue.ts";
import { math } from "./math/verify.ts";
import type { Verifier } from "./verifier.ts";

/**
 * Every built-in verifier; a new one is a row here and is covered by the contract suite. Workers load this list:
 * tables and libraries that cost more than a few milliseconds are read in `prepare`, by who needs them.
 */
export const VERIFIERS: readonly Verifier[] = [
  residue,
  codeExpression,
  truthTable,
  latinSquare,
  wordList,
  toolCall,
  math,
  functionCalling,
  instructionFollowing,
  logic,
  code,
  choice,
];

/** The built-in verifier of that name, made ready; undefined where there is none. */
export async function loadBuiltIn(name: string): Promise<Verifier | undefined> {
  const verifier = VERIFIERS.find((candidate) => candidate.name === name);
  await verifier?.prepare?.();
  return verifier;
}
