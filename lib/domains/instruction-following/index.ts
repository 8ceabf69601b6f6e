import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { wordList as drawWordList } from "./generate.ts";
import { ifEval, ifRlvr } from "./read/if-rlvr.ts";
import { VERIFIERS } from "./verifiers.ts";

export const INSTRUCTION_FOLLOWING = {
  datasets: { "if-rlvr": ifRlvr, ifeval: ifEval },
  families: [drawWordList],
  verifiers: VERIFIERS,
  readCase,
} satisfies Domain;
