import type { Verifier } from "../verifier.ts";
import { instructionFollowing } from "./verify.ts";
import { wordList } from "./word-list.ts";

/** The verifiers of this domain. A verifier process loads only this file of the folder. */
export const VERIFIERS: readonly Verifier[] = [instructionFollowing, wordList];
