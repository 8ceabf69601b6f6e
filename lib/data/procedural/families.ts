import { toolCall } from "./calls.ts";
import { describedFunction, inputOutput } from "./code.ts";
import type { Family } from "./family.ts";
import { wordList } from "./instructions.ts";
import { latinSquare, truthTable } from "./logic.ts";
import { chain, congruence } from "./math.ts";

/** The eight families of the quick start, in domain order. */
export const FAMILIES: readonly Family[] = [
  chain,
  congruence,
  describedFunction,
  inputOutput,
  truthTable,
  latinSquare,
  wordList,
  toolCall,
];
