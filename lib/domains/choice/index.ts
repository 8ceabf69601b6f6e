import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { gpqa } from "./read/gpqa.ts";
import { mmluPro } from "./read/mmlu-pro.ts";
import { VERIFIERS } from "./verifiers.ts";

export const CHOICE = {
  datasets: { gpqa, "mmlu-pro": mmluPro },
  verifiers: VERIFIERS,
  readCase,
} satisfies Domain;
