/** Suites, stored completions, and scores with their uncertainty. */
export type { Answer, Answerer, Drawn, Draws, Sampling } from "./answerer.ts";
export { type Comparison, compareEvaluations, type ShownChange } from "./compare.ts";
export { EndpointAnswerer, type EndpointOptions } from "./endpoint-answerer.ts";
export { EngineAnswerer, type EngineAnswererOptions } from "./engine-answerer.ts";
export { type EvaluationPlan, type EvaluationProgress, evaluateSuites } from "./evaluate.ts";
export { type ModelFolders, modelFolders } from "./model-folders.ts";
export { type OpenSuiteOptions, openSuite, SUITE_NAMES, suitesNamed } from "./open-suite.ts";
export { drawKey, isEvaluation, readManifest, readRecord } from "./record.ts";
export { type RescoredEvaluation, rescoreEvaluation } from "./rescore.ts";
export { type EvaluationResults, readResults, type SuiteGaps, type SuiteResult } from "./results.ts";
export type { Measures, Share } from "./statistics/measures.ts";
export { type Interval, quantile } from "./statistics/resampling.ts";
export type { Suite } from "./suite.ts";
export { type ModelSummary, summarizeModel } from "./summary.ts";
export { type UsefulGroups, usefulGroups } from "./useful-groups.ts";
