export { type Demonstration, type DemonstrationOptions, Demonstrator } from "./demonstrations.ts";
export { isHeldOut } from "./holdout.ts";
export { problemId } from "./problem-id.ts";
export type { ProblemSource, SourceOptions } from "./problem-source.ts";
export { QUICKSTART_LEXICON } from "./procedural/lexicon.ts";
export { openProblemSource, PROBLEM_SOURCES } from "./registry.ts";
