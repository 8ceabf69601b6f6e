import type { Verifier } from "../verifier.ts";
import { choice } from "./verify.ts";

/** The verifiers of this domain. A verifier process loads only this file of the folder. */
export const VERIFIERS: readonly Verifier[] = [choice];
