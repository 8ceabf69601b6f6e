import type { Verifier } from "../verifier.ts";
import { instructionFollowing } from "./verify.ts";
import { wordList } from "./word-list.ts";

/** Who judges; all of this folder that a verifier process loads. */
export const VERIFIERS: readonly Verifier[] = [instructionFollowing, wordList];
