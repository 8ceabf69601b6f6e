/** Measures a pinned weight version on problems it was never trained on. */
export { type HeldOutAnswers, readAnswers, writeAnswers } from "./answers.ts";
export {
  type AskedProblem,
  type EvaluationPlan,
  evaluate,
  type JudgedAnswer,
  type PolicyUnderTest,
  type ProblemResult,
  problemsAsked,
} from "./evaluate.ts";
export {
  type HeldOutAttempt,
  type HeldOutLine,
  type HeldOutMoment,
  HeldOutRecord,
} from "./held-out-record.ts";
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
