export {
  type ConvertOptions,
  type ConvertReport,
  convertModel,
  type ExportOptions,
  exportModel,
} from "./convert.ts";
export { type GeneratedToken, type GenerateOptions, generateTokens } from "./generate.ts";
export { type DownloadProgress, parseHubName, type ResolveOptions, resolveModelFolder } from "./hub.ts";
export { inspectModel, type ModelFindings, modelSizes, parameterCount, weightFiles } from "./inspect.ts";
export {
  type LoadedModel,
  type LoadOptions,
  loadModel,
  NO_OPTIMIZER,
  readModelFile,
} from "./model-folder.ts";
export { type FoundConfig, findConfig, PUBLISHED_CONFIGS } from "./published.ts";
export { batchesOf, type ScoreOptions, type SequenceScore, scoreSequences } from "./score.ts";
export { shrinkConfig, writeStandIn } from "./stand-in.ts";
