/** What survives a kill. */

export {
  Checkpoints,
  checkpointName,
  expectSeed,
  momentsOf,
  type RunState,
  weightsHash,
} from "./checkpoints.ts";
export { claimRunFolder, prepareRunFolder, recordedClock, recordedHeldOut, runClock } from "./run-folder.ts";
