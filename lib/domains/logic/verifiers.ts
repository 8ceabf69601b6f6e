import type { Verifier } from "../verifier.ts";
import { latinSquare } from "./latin-square.ts";
import { truthTable } from "./truth-table.ts";
import { logic } from "./verify.ts";

/** Who judges; all of this folder that a verifier process loads. */
export const VERIFIERS: readonly Verifier[] = [logic, truthTable, latinSquare];
