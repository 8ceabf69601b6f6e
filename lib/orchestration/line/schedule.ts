/** The line without whoever computes: what `simulate` drives by a virtual clock, and loads without engine and trainer. */

export { batchGroups, type StepBatch } from "./batcher.ts";
export { Books } from "./books.ts";
export { drawProblems, mostGroups, ProblemDrawer } from "./problem-drawer.ts";
export { verifyGroups } from "./verification.ts";
