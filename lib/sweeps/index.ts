/** Many runs of one recipe: cells times seeds as processes, resumed after interruptions, and their combined results. */

export { defineSweep, isSweepDefinition, type Study, type SweepDefinition } from "./definition.ts";
export type { JobEntry } from "./job-states.ts";
export { progressIn } from "./process.ts";
export { type Published, publish } from "./publish.ts";
export type { CaptionedTable } from "./sections.ts";
export { pairedSpread, type Spread, spreadOf } from "./spread.ts";
export { type PlanOptions, planSweep, type RunSweepOptions, runSweep, type SweepPlan } from "./sweep.ts";
