export { type LoadedModel, type LoadOptions, loadModel } from "./model-folder.ts";
export { batchesOf, type SequenceScore, scoreSequences } from "./score.ts";
