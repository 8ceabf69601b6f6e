import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { gpqa } from "./read/gpqa.ts";
import { mmluPro } from "./read/mmlu-pro.ts";
import { choice } from "./verify.ts";

export const CHOICE = {
  datasets: { gpqa, "mmlu-pro": mmluPro },
  verifiers: [choice],
  readCase,
} satisfies Domain;
