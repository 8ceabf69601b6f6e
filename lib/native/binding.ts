/**
 * Hand-written types of the addon: exactly the exports of csrc/addon/addon.cc. test/native/binding.test.ts compares
 * keys and arities with the loaded addon. Everything else in this folder builds on this.
 */
import type {
  EngineFace,
  EngineMessage,
  EngineOptions,
  MemorySizes,
  NativeInfo,
  TrainerFace,
  TrainerOptions,
} from "./face.ts";
import type { CommunicatorFace, CommunicatorOptions, WeightSenderFace } from "./group-face.ts";
import type { ModelFacts, ModelWriterOptions, ModelWriterReport } from "./model-face.ts";
import type { WeightReceiverFace, WeightReceiverOptions } from "./receiver-face.ts";

export interface NativeBinding {
  /** INTERFACE_STAMP of stamp.ts as it was when the addon was built. */
  readonly interfaceStamp: string;
  info(): Omit<NativeInfo, "version">;
  describeModel(modelConfigJson: string, where: string, strict: boolean): ModelFacts;
  memorySizes(
    modelConfigJson: string,
    engine: EngineOptions,
    trainer: TrainerOptions,
    sequences: number,
    threads: number,
    ranks: number,
    base: "f32" | "bf16",
  ): MemorySizes;
  readonly NativeEngine: new (
    modelConfigJson: string,
    options: EngineOptions,
    onMessage: (message: EngineMessage) => void,
    onError: (error: NativeError) => void,
  ) => NativeEngine;
  readonly NativeTrainer: new (modelConfigJson: string, options: TrainerOptions) => NativeTrainer;
  readonly NativeCommunicator: new (options: CommunicatorOptions) => NativeCommunicator;
  readonly NativeWeightReceiver: new (
    modelConfigJson: string,
    options: WeightReceiverOptions,
  ) => NativeWeightReceiver;
  readonly NativeModelWriter: new (options: ModelWriterOptions) => NativeModelWriter;
  readonly NativeTokenizer: new (tokenizerFile: string) => NativeTokenizer;
  readonly NativeDecodeStream: new (tokenizer: NativeTokenizer, skipSpecial: boolean) => NativeDecodeStream;
}

/** Error that the addon throws and rejects with: `code` is HONE_ERR_<CODE>. */
export interface NativeError extends Error {
  readonly code?: string;
}

/**
 * The addon's classes implement these interfaces. Their wrappers translate errors, and check that an engine
 * is one of this process.
 */
export type NativeEngine = EngineFace;
export type NativeTrainer = TrainerFace & WeightSenderFace;
export type NativeWeightReceiver = WeightReceiverFace;
export type NativeCommunicator = CommunicatorFace;

export interface NativeModelWriter {
  run(onProgress: (doneBytes: number, totalBytes: number) => void): Promise<ModelWriterReport>;
  cancel(): void;
}

export interface NativeTokenizer {
  readonly vocabularySize: number;
  encode(text: string, addSpecial: boolean, spellSpecial: boolean): Int32Array;
  decode(ids: Int32Array, skipSpecial: boolean): string;
  nameOf(id: number): string | undefined;
  idOf(name: string): number | undefined;
  tokenBytes(): Uint8Array[];
}

export interface NativeDecodeStream {
  step(id: number): string;
  finish(): string;
}
