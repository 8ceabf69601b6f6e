import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { toolCall as drawToolCall } from "./generate.ts";
import { bfcl } from "./read/bfcl.ts";
import { toolCall } from "./tool-call.ts";
import { functionCalling } from "./verify.ts";

export const FUNCTION_CALLING = {
  datasets: { bfcl },
  families: [drawToolCall],
  verifiers: [functionCalling, toolCall],
  readCase,
} satisfies Domain;
