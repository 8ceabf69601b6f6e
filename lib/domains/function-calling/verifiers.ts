import type { Verifier } from "../verifier.ts";
import { toolCall } from "./tool-call.ts";
import { functionCalling } from "./verify.ts";

/** The verifiers of this domain. A verifier process loads only this file of the folder. */
export const VERIFIERS: readonly Verifier[] = [functionCalling, toolCall];
