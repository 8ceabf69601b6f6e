import type { Verifier } from "../verifier.ts";
import { residue } from "./residue.ts";
import { math } from "./verify.ts";

/** Who judges; all of this folder that a verifier process loads. */
export const VERIFIERS: readonly Verifier[] = [math, residue];
