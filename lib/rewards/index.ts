export { type AdvantageOptions, groupAdvantages } from "./advantages.ts";
export { CASE_READERS } from "./case-readers.ts";
export { type GroupFilter, hasZeroAdvantage } from "./group-filter.ts";
export {
  type LengthPenaltyOptions,
  type LengthPenaltyResult,
  lengthPenalty,
  overlongPenalty,
  type PenalizedCompletion,
} from "./length-penalty.ts";
export {
  type VerificationRequest,
  VerifierPool,
  type VerifierPoolOptions,
} from "./pool.ts";
export { loadBuiltIn, VERIFIERS } from "./registry.ts";
export { choiceText, sandboxChoice } from "./sandbox/choose.ts";
export type {
  Sandbox,
  SandboxFailure,
  SandboxLimits,
  SandboxProgram,
  SandboxResult,
  SandboxValue,
} from "./sandbox/sandbox.ts";
export { type ShapedGroup, type ShapingOptions, shapeGroup } from "./shape-group.ts";
export type { Completion, Verifier, VerifierLimits } from "./verifier.ts";
export type { VerifierStats } from "./verifier-stats.ts";
export type { CaseReader, Compat, VerifyCase } from "./verify-case.ts";
