/** Measures a pinned weight version on problems it was never trained on. */
export { type HeldOutAnswers, readAnswers, writeAnswers } from "./answers.ts";
export {
  type EvaluationPlan,
  evaluate,
  type PolicyUnderTest,
  type ProblemResult,
  problemsAsked,
} from "./evaluate.ts";
export { type EvaluationScore, type Scoreboard, score, scoreboard } from "./score.ts";
export {
  type Candidate,
  problemScores,
  rank,
  readValidations,
  type Selection,
  select,
  type Validation,
  writeValidations,
} from "./selection.ts";
