import { join } from "node:path";
import { type DeviceName, defaultDevice } from "../device.ts";
import { info, type OptimizerOptions, Trainer } from "../native/index.ts";
import { readPlainFile } from "../shared/files/plain-file.ts";
import { defaultArithmetic, storedAs, type WeightTypes } from "../shared/models/weight-types.ts";
import { expectWeights, modelFolderHint } from "./expect-weights.ts";
import { dependsOnContext, modelFacts, withContext } from "./model-facts.ts";

/** Weights of a model folder in the memory of a device, masters in f32, on a thread of their own. */
export interface LoadedModel extends AsyncDisposable {
  /** Text of the folder's config.json. */
  readonly configJson: string;
  readonly vocabulary: number;
  /** Tokens of the longest sequence. */
  readonly maxPositions: number;
  readonly weights: Trainer;
  readonly device: DeviceName;
  /** Types in which an engine must store and multiply the weights. */
  readonly types: WeightTypes;
}

export interface LoadOptions {
  /** Token budget of one packed forward pass. Default 4096. */
  readonly packedTokens?: number;
  /**
   * Tokens of the longest sequence, see {@link withContext}; a function is called only if the model's values depend
   * on it. Default: config.json's limit.
   */
  readonly maxContext?: number | (() => Promise<number>);
  readonly device?: DeviceName;
  /** Storage type of matrices, keys and values on the CPU; "stored": bf16 if config.json says so. Default: f32. */
  readonly weights?: WeightTypes["weightStorage"] | "stored";
}

/** Options that opening a trainer requires; the trainer only loads weights here. */
export const NO_OPTIMIZER: OptimizerOptions = {
  kind: "adamw",
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  decayAll: false,
  muonMomentum: 0.95,
  gradientClip: 0,
};

/** Limit for config.json, an index of shards and the like: the largest published ones have a few megabytes. */
const MOST_JSON_BYTES = 1 << 28;

/** Text of a file of the folder. Throws HONE_ERR_IO or HONE_ERR_FORMAT naming it. */
export function readModelFile(directory: string, name: string): string {
  return readPlainFile(join(directory, name), MOST_JSON_BYTES, modelFolderHint(directory)).toString();
}

/**
 * Loads a Hugging Face folder. Throws HONE_ERR_IO for a missing file, HONE_ERR_UNSUPPORTED or HONE_ERR_CONFIG naming
 * the field of config.json, HONE_ERR_FORMAT naming file and tensor.
 */
export async function loadModel(directory: string, options: LoadOptions = {}): Promise<LoadedModel> {
  const text = readModelFile(directory, "config.json");
  const configJson = await withLongest(text, options.maxContext);
  const { vocabulary, maxPositions } = modelFacts(configJson, join(directory, "config.json"));
  expectWeights(directory);
  const device = options.device ?? defaultDevice();
  const types = weightTypes(configJson, device, options.weights);
  const weights = new Trainer(configJson, {
    optimizer: NO_OPTIMIZER,
    packedTokens: options.packedTokens ?? 4096,
    ...types,
    device,
    deterministic: true, // deterministic: scores must equal the log-probs of generation to the bit, and speed matters less
  });
  try {
    await weights.loadHf(directory);
  } catch (error) {
    await weights.close();
    throw error;
  }
  return {
    configJson,
    vocabulary,
    maxPositions,
    weights,
    device,
    types,
    [Symbol.asyncDispose]: () => weights.close(),
  };
}

/** Returns the types that {@link loadModel} uses for a folder with this config.json. */
export function weightTypes(
  config: string,
  device: DeviceName,
  weights: LoadOptions["weights"] = "f32",
): WeightTypes {
  const weightStorage = weights === "stored" ? storedAs(config) : weights;
  return { weightStorage, arithmetic: defaultArithmetic(device, weightStorage, info().isa) };
}

async function withLongest(configJson: string, longest: LoadOptions["maxContext"]): Promise<string> {
  if (longest === undefined || !dependsOnContext(configJson)) return configJson;
  return withContext(configJson, typeof longest === "number" ? longest : await longest());
}
