import type { Verifier } from "../verifier.ts";
import { codeExpression } from "./expression.ts";
import { code } from "./verify.ts";

/** Who judges; all of this folder that a verifier process loads. */
export const VERIFIERS: readonly Verifier[] = [code, codeExpression];
