import type { Rules } from "./judging.ts";
import { standardize } from "./standardize.ts";
import { hasToolCalls, readToolCalls } from "./tool-calls.ts";
import { PYTHON_COMPARISON } from "./value-check.ts";

/**
 * Judges calls as the reference implementation does: reads the whole completion, compares normalised texts,
 * and gives partial credit for some of several calls.
 * Source: BFCL v4, single-turn; statuses and partial credit as in PipelineRL.
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
