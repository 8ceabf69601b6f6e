import type { Verifier } from "../verifier.ts";
import { toolCall } from "./tool-call.ts";
import { functionCalling } from "./verify.ts";

/** Who judges; all of this folder that a verifier process loads. */
export const VERIFIERS: readonly Verifier[] = [functionCalling, toolCall];
