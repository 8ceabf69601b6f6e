export { type JudgeOptions, keyOf } from "./judge/judge.ts";
export { checkVerdict } from "./pool/judging.ts";
export { VerifierPool } from "./pool/pool.ts";
export type { VerificationRequest } from "./pool/pooled-verifier.ts";
export type { RewardGiver, RewardPlan } from "./pool/rewards.ts";
export type { JobEnd, VerificationJob } from "./pool/verification-job.ts";
export type { VerifierStats } from "./pool/verifier-stats.ts";
export type { JobPlace } from "./pool/worker-groups.ts";
export { type ShapingOptions, shapeGroup, trainedMembers, withRewards } from "./shape-group.ts";
