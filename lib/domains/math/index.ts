import type { Domain } from "../domain.ts";
import { FACTS } from "./facts.ts";
import { chain, congruence } from "./generate.ts";
import { aime } from "./read/aime.ts";
import { gsm8k } from "./read/gsm8k.ts";
import { math500 } from "./read/math-500.ts";
import { openReasonerZero } from "./read/open-reasoner-zero.ts";

export const MATH = {
  datasets: { "open-reasoner-zero": openReasonerZero, aime, gsm8k, "math-500": math500 },
  families: [chain, congruence],
  verifiers: FACTS,
} satisfies Domain;
