/** The pipeline without whoever computes: what `simulate` drives by a virtual clock, and loads without engine and trainer. */

export { batchGroups, type StepBatch } from "./batcher.ts";
export { GroupAccounting } from "./group-accounting.ts";
export { drawProblems, mostGroups, ProblemDrawer } from "./problem-drawer.ts";
export { verifyGroups } from "./verification.ts";
