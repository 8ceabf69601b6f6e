import type { Domain } from "../domain.ts";
import { FACTS } from "./facts.ts";
import { gpqa } from "./read/gpqa.ts";
import { mmluPro } from "./read/mmlu-pro.ts";

export const CHOICE = {
  datasets: { gpqa, "mmlu-pro": mmluPro },
  verifiers: FACTS,
} satisfies Domain;
