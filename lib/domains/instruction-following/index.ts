import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { wordList as drawWordList } from "./generate.ts";
import { ifEval, ifRlvr } from "./read/if-rlvr.ts";
import { instructionFollowing } from "./verify.ts";
import { wordList } from "./word-list.ts";

export const INSTRUCTION_FOLLOWING = {
  datasets: { "if-rlvr": ifRlvr, ifeval: ifEval },
  families: [drawWordList],
  verifiers: [instructionFollowing, wordList],
  readCase,
} satisfies Domain;
