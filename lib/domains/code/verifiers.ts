import type { Verifier } from "../verifier.ts";
import { assertions } from "./assertions.ts";
import { checker } from "./checker.ts";
import { codeExpression } from "./expression.ts";
import { code } from "./verify.ts";

/** The verifiers of this domain. A verifier process loads only this file of the folder. */
export const VERIFIERS: readonly Verifier[] = [code, checker, codeExpression, assertions];
