/** The pipeline without engine and trainer: `simulate` drives it by a virtual clock and loads neither. */

export { batchGroups, type StepBatch } from "./batcher.ts";
export { GroupAccounting } from "./group-accounting.ts";
export { drawProblems, mostGroups, ProblemDrawer } from "./problem-drawer.ts";
export { ReplayBuffer } from "./replay-buffer.ts";
export { verifyGroups } from "./verification.ts";
