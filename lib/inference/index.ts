export { type AdapterSource, exportAdapters, holdsAdapters, mergeAdapters } from "./adapters.ts";
export { changedWeights, type WeightChange } from "./changed-weights.ts";
export { type ConvertOptions, type ConvertReport, convertModel, exportModel } from "./convert.ts";
export { type GeneratedToken, generateTokens } from "./generate.ts";
export { isUnreachable, parseHubName, type ResolveOptions, resolveModelFolder } from "./hub.ts";
export { isHubPath, parseDatasetName, resolveDataset } from "./hub-data.ts";
export { type PushedFile, type PushOptions, type PushReport, pushFolder } from "./hub-push.ts";
export { inspectModel, type ModelFindings, weightFiles } from "./inspect.ts";
export { layersOfAttention, modelFacts, withContext } from "./model-facts.ts";
export {
  type LoadedModel,
  type LoadOptions,
  loadModel,
  NO_OPTIMIZER,
  readModelFile,
  weightTypes,
} from "./model-folder.ts";
export { checkOrigin, type ModelOrigin, originOf } from "./model-origin.ts";
export { type FoundConfig, findConfig, PUBLISHED_CONFIGS } from "./published.ts";
export { batchesOf, checkIds, type SequenceScore, scoreSequences } from "./score.ts";
export { shrinkConfig, writeStandIn } from "./stand-in.ts";
