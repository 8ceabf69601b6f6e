/** What survives a kill. */

export {
  Checkpoints,
  checkpointName,
  expectSeed,
  momentsOf,
  type RunState,
  weightsHash,
} from "./checkpoints.ts";
export {
  BEFORE_FILE,
  claimRunFolder,
  prepareRunFolder,
  recordedClock,
  recordedHeldOut,
  runClock,
} from "./run-folder.ts";
