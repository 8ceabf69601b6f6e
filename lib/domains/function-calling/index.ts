import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { toolCall as drawToolCall } from "./generate.ts";
import { bfcl } from "./read/bfcl.ts";
import { VERIFIERS } from "./verifiers.ts";

export const FUNCTION_CALLING = {
  datasets: { bfcl },
  families: [drawToolCall],
  verifiers: VERIFIERS,
  readCase,
} satisfies Domain;
