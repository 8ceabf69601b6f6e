import type { Domain } from "../domain.ts";
import { FACTS } from "./facts.ts";
import { toolCall as drawToolCall } from "./generate.ts";
import { bfcl } from "./read/bfcl.ts";

export const FUNCTION_CALLING = {
  datasets: { bfcl },
  families: [drawToolCall],
  verifiers: FACTS,
} satisfies Domain;
