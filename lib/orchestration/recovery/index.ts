/** Checkpoints and the run folder. */

export {
  Checkpoints,
  checkpointName,
  expectSeed,
  expectStepsLeft,
  momentsOf,
  type RunState,
} from "./checkpoints.ts";
export { recordedSteps } from "./lost-checkpoints.ts";
export { ReferenceWeights } from "./reference-weights.ts";
export {
  claimRunFolder,
  expectClaimable,
  keptArithmetic,
  keptMasking,
  keptStorage,
  prepareRunFolder,
  recordedArithmetic,
  recordedClock,
  recordedCommits,
  recordedHeldOut,
  runClock,
} from "./run-folder.ts";
export { weightsHash } from "./weights-hash.ts";
