import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { chain, congruence } from "./generate.ts";
import { aime } from "./read/aime.ts";
import { openReasonerZero } from "./read/open-reasoner-zero.ts";
import { residue } from "./residue.ts";
import { math } from "./verify.ts";

export const MATH = {
  datasets: { "open-reasoner-zero": openReasonerZero, aime },
  families: [chain, congruence],
  verifiers: [math, residue],
  readCase,
} satisfies Domain;
