/** Records that a run writes and reads. */

export { decodeIds, decodeLogprobs } from "./encoded-arrays.ts";
export {
  EventLog,
  hashRollout,
  type LoggedRollout,
  type LoggedVerdict,
  type NoteKind,
  readEvents,
} from "./event-log.ts";
export type {
  JournalLine,
  JudgedProblem,
  TakenGroup,
  TakenMember,
} from "./journal-lines.ts";
export { givenOf, type LoggedEpisode } from "./logged-episode.ts";
export { beginning, identityOfLine } from "./problem-identity.ts";
export { recipeChanges } from "./recipe-changes.ts";
export { inTodaysNames, recordedRecipe } from "./recorded-recipe.ts";
export {
  type RestoredGroup,
  restoredBuffer,
  restoredGroup,
  restoredRequest,
  restoredRollouts,
} from "./restored-groups.ts";
export {
  cutRolloutRecord,
  noRecordOf,
  type RecordedGroup,
  type RecordedRollout,
  type RecordedStep,
  readRolloutRecord,
  recordedSteps,
  writeRolloutRecord,
} from "./rollout-record.ts";
export {
  expectPlayable,
  type GroupEvent,
  hookAdvantages,
  type RunHistory,
  readHistory,
  type StepEvent,
} from "./run-history.ts";
export { type BetweenSteps, StepRecorder } from "./step-recorder.ts";
export { UnfinishedRollouts } from "./unfinished-rollouts.ts";
export {
  type JournaledCompletion,
  openJournal,
  readVerdictJournal,
  VerdictJournal,
} from "./verdict-journal.ts";
export { expandedRuns } from "./version-runs.ts";
