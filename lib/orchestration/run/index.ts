/** The life of a run. */

export {
  type FrozenPolicies,
  type Opened,
  openFrozenPolicies,
  openScores,
  Reference,
} from "./frozen-policies.ts";
export { createRun } from "./run.ts";
export type {
  PinnedPolicy,
  Run,
  RunEnd,
  RunEvents,
  RunHooks,
  RunOptions,
  RunOutcome,
} from "./run-interface.ts";
export { expectDemonstrations } from "./warm-start.ts";
