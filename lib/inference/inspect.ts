import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "../shared/models/config-json.ts";
import { expectWeights } from "./expect-weights.ts";
import { type ResolveOptions, resolveModelHeads } from "./hub.ts";
import { shardsOf } from "./hub-cache.ts";
import { modelFacts } from "./model-facts.ts";
import { readModelFile } from "./model-folder.ts";
import { readHeader, type StoredTensor } from "./safetensors-header.ts";

/** The contents of a model folder, from its config and the headers of its weight files; no weight is read. */
export interface ModelFindings {
  /** model_type of config.json, and of the text decoder inside a wrapper. */
  readonly architecture: string;
  readonly decoder: string;
  readonly sizes: Readonly<Record<string, number>>;
  readonly tiedHead: boolean;
  /** Fields of config.json that this version does not know. */
  readonly warnings: readonly string[];
  readonly files: number;
  /** Text model's tensors by stored dtype. */
  readonly dtypes: Readonly<Record<string, { readonly tensors: number; readonly bytes: number }>>;
  readonly parameters: number;
  /** Vision towers, projectors, layers that predict further tokens and stored rotary frequencies: not loaded. */
  readonly skipped: { readonly tensors: number; readonly bytes: number };
  /** Memory in bytes. A key/value cache needs at least one sequence of the longest context. */
  readonly memory: {
    readonly weights: number;
    readonly keyValuesPerToken: number;
    readonly longestContext: number;
    /** f32 master weights, gradients and two moments. */
    readonly training: number;
  };
}

/** Prefixes of tensor names that no text model has; csrc/model/hf_loader.cc skips the same list. */
const NOT_TEXT =
  /^(?:model\.)?(?:vision_tower|multi_modal_projector|audio_tower|embed_vision|embed_audio)\.|rotary_emb\.inv_freq$/;
const LAYER = /^model\.layers\.(\d+)\./;
/**
 * The contents of a model folder or Hub name. If the model is not in the Hub's cache, downloads only the small files
 * and the headers of its weights. Throws HONE_ERR_IO for a missing file, HONE_ERR_FORMAT naming the file whose header
 * is damaged, the errors of modelFacts and resolveModelFolder, and an error for an unsupported mixture of experts.
 */
export async function inspectModel(
  nameOrPath: string,
  options: Omit<ResolveOptions, "withWeights"> = {},
): Promise<ModelFindings> {
  const { folder: directory, withHead } = await resolveModelHeads(nameOrPath, options);
  const text = readModelFile(directory, "config.json");
  const facts = modelFacts(text, join(directory, "config.json"));
  const { decoder, tiedHead, warnings } = facts;
  const { vocabulary, width, layers, heads, kvHeads, headDim, mlpWidth, maxPositions } = facts;
  const { experts, expertsPerToken, expertWidth, activeParameters } = facts;
  const files = weightNames(directory);
  const dtypes: Record<string, { tensors: number; bytes: number }> = {};
  const skipped = { tensors: 0, bytes: 0 };
  let parameters = 0;
  for (const file of files) {
    for (const [name, tensor] of Object.entries(await withHead(file, readHeader))) {
      const bytes = tensor.data_offsets[1] - tensor.data_offsets[0];
      dtypes[tensor.dtype] ??= { tensors: 0, bytes: 0 };
      const further = Number(LAYER.exec(name)?.[1] ?? -1) >= layers; // a layer that predicts further tokens
      const part = further || NOT_TEXT.test(name) ? skipped : dtypes[tensor.dtype]!;
      part.tensors += 1;
      part.bytes += bytes;
      if (part !== skipped) parameters += valuesOf(name, tensor);
    }
  }
  const keyValuesPerToken = facts.cacheWidth * 4;
  return {
    architecture: String((parseConfig(text) as { readonly model_type: unknown }).model_type),
    decoder,
    sizes: {
      vocabulary,
      width,
      layers,
      heads,
      kvHeads,
      headDim,
      mlpWidth,
      maxPositions,
      ...(experts > 0 ? { experts, expertsPerToken, expertWidth, activeParameters } : {}),
    },
    tiedHead,
    warnings,
    files: files.length,
    dtypes: Object.fromEntries(Object.entries(dtypes).filter(([, { tensors }]) => tensors > 0)),
    parameters,
    skipped,
    memory: {
      weights: parameters * 4,
      keyValuesPerToken,
      longestContext: keyValuesPerToken * maxPositions,
      training: parameters * 16,
    },
  };
}

/**
 * Number of weights in a stored tensor: MXFP4's blocks have two per byte, and scales count as none
 * (csrc/model/stored_weights.h).
 */
function valuesOf(name: string, { dtype, shape }: StoredTensor): number {
  if (/_(?:scale|scale_inv|scales)$/.test(name)) return 0;
  const values = shape.reduce((product, n) => product * n, 1);
  return dtype === "U8" && name.endsWith("_blocks") ? 2 * values : values;
}

/**
 * Paths of the weight files, from the index if there is one. Throws HONE_ERR_IO if there are no weights,
 * HONE_ERR_FORMAT for a damaged index.
 */
export function weightFiles(directory: string): string[] {
  expectWeights(directory);
  return weightNames(directory).map((name) => join(directory, name));
}

function weightNames(directory: string): string[] {
  const index = "model.safetensors.index.json";
  if (!existsSync(join(directory, index))) return ["model.safetensors"];
  return shardsOf(readModelFile(directory, index), join(directory, index)).sort();
}
