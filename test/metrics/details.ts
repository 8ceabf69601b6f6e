import type { StepDetails } from "../../lib/metrics/index.ts";

/** The details of a step without groups. */
export const NO_DETAILS: StepDetails = { groups: [], endedAt: 0, epochMs: 0 };
