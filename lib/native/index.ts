/// <reference lib="esnext.disposable" preserve="true" />
/// <reference types="node" preserve="true" />
/** The only entry point to the addon. Importing this loads nothing; the first Engine, Trainer or info() does. */
export { Communicator } from "./communicator.ts";
export { Engine } from "./engine.ts";
export * from "./face.ts";
export { type Completion, type CompletionSink, Generations } from "./generations.ts";
export type * from "./group-face.ts";
export type * from "./model-face.ts";
export { writeModelFolder } from "./model-writer.ts";
export type * from "./receiver-face.ts";
export { HfTokenizer, openTokenizer } from "./tokenizer.ts";
export { Trainer } from "./trainer.ts";
export { WeightReceiver } from "./weight-receiver.ts";

import { Engine } from "./engine.ts";
import { translated } from "./errors.ts";
import type {
  EngineHandlers,
  EngineOptions,
  MemorySizes,
  ModelConfigJson,
  NativeInfo,
  TrainerOptions,
} from "./face.ts";
import { binding, packageVersion } from "./load.ts";
import type { ModelFacts } from "./model-face.ts";
import { Trainer } from "./trainer.ts";

/** Build and hardware information; the first call queries the CUDA driver. */
export function info(): NativeInfo {
  return { version: packageVersion(), ...translated(() => binding().info()) };
}

/** `info` and the constructors of engines and trainers, as one value. */
export const core = {
  info,
  engine: (config: ModelConfigJson, options: EngineOptions, handlers: EngineHandlers) =>
    new Engine(config, options, handlers),
  trainer: (config: ModelConfigJson, options: TrainerOptions) => new Trainer(config, options),
};

/**
 * Reads the text of a config.json in the core. Throws HONE_ERR_CONFIG, HONE_ERR_FORMAT or
 * HONE_ERR_UNSUPPORTED naming every field that is wrong or has an unsupported value that would change the
 * numbers.
 * @param where name of the file in messages
 * @param strict refuses unknown fields
 */
export function describeModel(configJson: string, where: string, strict: boolean): ModelFacts {
  return translated(() => binding().describeModel(configJson, where, strict));
}

/**
 * Bytes needed by an engine and a trainer with these options, and by their model's packed weights. Allocates
 * nothing and needs no device. Throws the errors of {@link describeModel}.
 * @param sequences maximum number of sequences in a micro-batch
 * @param threads size of the CPU's thread pool, for options that compute there
 * @param ranks number of trainers that shard as `trainer.sharding` says: the sizes are those of rank 0.
 * Default: 1
 * @param base how a frozen base is stored on the CPU: bf16 if that represents its values. Default: "f32"
 */
export function memorySizes(
  configJson: string,
  options: { readonly engine: EngineOptions; readonly trainer: TrainerOptions },
  {
    sequences,
    threads,
    ranks = 1,
    base = "f32",
  }: {
    readonly sequences: number;
    readonly threads: number;
    readonly ranks?: number;
    readonly base?: "f32" | "bf16";
  },
): MemorySizes {
  const { engine, trainer } = options;
  return translated(() =>
    binding().memorySizes(configJson, engine, trainer, sequences, threads, ranks, base),
  );
}
