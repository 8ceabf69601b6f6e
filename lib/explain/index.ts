/** Why a token of a recorded run got the gradient it got. */

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
