/** Resources of a run, opened from its recipe. */

export { admissionOf } from "./admission.ts";
export { type Core, type CoreProcesses, nativeCore, rlOptimizer, trainerOptions } from "./core.ts";
export { type Curriculum, openCurricula, type ProblemHistory, type WeightFunction } from "./curricula.ts";
export { besideEpisodes, expectEnvironments, playsOf, type Verifiers } from "./episodes.ts";
export { expectRunnable, whyNotRunnable } from "./hardware.ts";
export { isPathAlone, localPaths, localSource, localSpec } from "./hub-sources.ts";
export { type Model, newModelConfig, openModel, templateWarning } from "./model.ts";
export { type HeldOut, type HubCommits, openProblems, type ValidationSet } from "./problems.ts";
export { encodePrompt, PromptEncoder } from "./prompts.ts";
export { placedHere, thisMachine } from "./readiness.ts";
export { openResources, openVerifiers, type RunResources } from "./resources.ts";
export { expectRewards, giverText, rewardPlan, rewardPlans, verificationCalls } from "./rewards.ts";
export { type FolderTeacher, openTeacher, type Teacher } from "./teacher.ts";
export { TeacherEndpoint } from "./teacher-endpoint.ts";
