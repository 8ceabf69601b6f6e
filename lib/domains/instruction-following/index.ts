import type { Domain } from "../domain.ts";
import { FACTS } from "./facts.ts";
import { wordList as drawWordList } from "./generate.ts";
import { ifEval, ifRlvr } from "./read/if-rlvr.ts";

export const INSTRUCTION_FOLLOWING = {
  datasets: { "if-rlvr": ifRlvr, ifeval: ifEval },
  families: [drawWordList],
  verifiers: FACTS,
} satisfies Domain;
