import type { Rules } from "./judging.ts";
import { standardize } from "./standardize.ts";
import { hasToolCalls, readToolCalls } from "./tool-calls.ts";
import { PYTHON_COMPARISON } from "./value-check.ts";

/**
 * Calls as the reference judges them: read from the whole completion, texts compared in normal form, and partial
 * credit for some of several calls.
 * Source: BFCL v4, single-turn; statuses and partial credit as PipelineRL gives them.
 */
export const REFERENCE: Rules = {
  responseOf: (completion) => completion,
  isMarked: hasToolCalls,
  readMarked: readToolCalls,
  comparison: { ...PYTHON_COMPARISON, form: standardize },
  needsRequired: true,
  refusesPositional: false,
  creditFor: (matched) => Math.min(matched, 1 - Number.EPSILON),
};
