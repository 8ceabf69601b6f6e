import type { Verifier } from "../verifier.ts";
import { countdown } from "./countdown.ts";
import { latinSquare } from "./latin-square.ts";
import { truthTable } from "./truth-table.ts";
import { logic } from "./verify.ts";

/** The verifiers of this domain. A verifier process loads only this file of the folder. */
export const VERIFIERS: readonly Verifier[] = [logic, truthTable, latinSquare, countdown];
