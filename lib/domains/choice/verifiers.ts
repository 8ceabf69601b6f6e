import type { Verifier } from "../verifier.ts";
import { choice } from "./verify.ts";

/** Who judges; all of this folder that a verifier process loads. */
export const VERIFIERS: readonly Verifier[] = [choice];
