/** A recorded run once more. */

export { replayRun } from "./replay.ts";
export { type Rescoring, rescoreRun } from "./rescore.ts";
