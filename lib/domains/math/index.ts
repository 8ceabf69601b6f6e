import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { chain, congruence } from "./generate.ts";
import { aime } from "./read/aime.ts";
import { openReasonerZero } from "./read/open-reasoner-zero.ts";
import { VERIFIERS } from "./verifiers.ts";

export const MATH = {
  datasets: { "open-reasoner-zero": openReasonerZero, aime },
  families: [chain, congruence],
  verifiers: VERIFIERS,
  readCase,
} satisfies Domain;
