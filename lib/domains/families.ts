import type { Family } from "../data/family.ts";
import { describedFunction, inputOutput } from "./code/generate.ts";
import { toolCall } from "./function-calling/generate.ts";
import { wordList } from "./instruction-following/generate.ts";
import { latinSquare, truthTable } from "./logic/generate.ts";
import { chain, congruence } from "./math/generate.ts";

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
