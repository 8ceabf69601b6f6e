import type { Domain } from "../domain.ts";
import { FACTS } from "./facts.ts";
import { toolCall as drawToolCall } from "./generate.ts";
import { bfcl } from "./read/bfcl.ts";
import { xlam } from "./read/xlam.ts";

export const FUNCTION_CALLING = {
  datasets: { bfcl, xlam },
  families: [drawToolCall],
  verifiers: FACTS,
} satisfies Domain;
