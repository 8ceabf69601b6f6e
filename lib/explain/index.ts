/** Explains the gradient of a token of a recorded run. */

export { type ExplainOptions, explainStep } from "./explain-step.ts";
export type {
  ExplainedGroup,
  ExplainedPenalty,
  ExplainedReward,
  ExplainedSequence,
  ExplainedSettings,
  ExplainedStep,
  ExplainedToken,
  Explanation,
} from "./explanation.ts";
export type { GradientPart, GradientShares } from "./gradient-share.ts";
