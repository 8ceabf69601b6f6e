export { keepRowMap, type RowMap, rowMapOf, type WrittenMap } from "../data/row-map.ts";
export { CASE_DOMAINS, loadCaseReader } from "./case-readers.ts";
export { type Compat, judgedBy } from "./compat.ts";
export { type KindUse, kindFor, NAME_THE_KIND, NEEDS_MAP, tellKind } from "./data-kind.ts";
export {
  DATASETS,
  type DatasetKind,
  type DatasetSpec,
  filterDataset,
  isBenchmark,
  isDatasetKind,
  judgeOf,
  loadMap,
  needsReference,
  ofDomain,
  openBenchmark,
  parseDatasetSpec,
  readerOf,
} from "./datasets.ts";
export { type Demonstration, type DemonstrationOptions, Demonstrator } from "./demonstrations.ts";
export {
  type Environment,
  type EnvironmentCall,
  type EpisodeProblem,
  type ExpertMessage,
  type ExpertTurn,
  environmentName,
  isEnvironment,
  playedIn,
  type ToolCall,
  type TurnMessage,
  type TurnOutcome,
} from "./environment.ts";
export { ENVIRONMENTS, EPISODE_SOURCES } from "./environments/index.ts";
export { finalResponse } from "./final-response.ts";
export { QUICKSTART_LEXICON } from "./lexicon.ts";
export { openProblemSource, openValidationSource, PROBLEM_SOURCES } from "./problem-sources.ts";
export {
  columnsOf,
  type RewardFunction,
  type RewardInput,
  rewardedBy,
  rewardedProblem,
  rewardName,
} from "./reward.ts";
export { type RewardScale, scaledVerdict } from "./reward-scale.ts";
export { writeSampleRows } from "./sample-rows.ts";
export type { Completion, Verifier, VerifierModule } from "./verifier.ts";
export {
  findBuiltIn,
  loadBuiltIn,
  referenceFault,
  UNVERSIONED,
  VERIFIERS,
  versionOf,
} from "./verifiers.ts";
export type { CaseReader } from "./verify-case.ts";
