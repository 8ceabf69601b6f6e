// The native core's interfaces in TypeScript. `engine.ts` and `trainer.ts` implement them over the addon; other modules
// depend on the interfaces only. Typed arrays and flat options cross the border, one message per engine step, not one
// per token.
import type { SlopesModule, SlopesRequest } from "../custom-objective.ts";
import type { DeviceName } from "../device.ts";
import type { RecordHandler, TakenUp, TakenUpStats, TakesUp } from "./attempt-tokens.ts";
import type { CommunicatorFace } from "./group-face.ts";
import type { SamplingOptions } from "./sampling.ts";
import type { TeacherFace, TeacherTerm, TeacherTokens } from "./teacher-face.ts";

export type { SamplingOptions };

/** Sizes and switches of a decoder; the Hugging Face config.json the core understands, as JSON text. */
export type ModelConfigJson = string;

export interface NativeInfo {
  readonly version: string;
  /** Instruction set the CPU kernels run with: "avx512bf16", "avx512", "avx2" or "baseline". */
  readonly isa: string;
  readonly threads: number;
  /** Compiled-in CUDA version ("13.0") or null; the result of a device query, or the reason why there is none. */
  readonly cuda: {
    readonly compiled: string | null;
    /** Newest CUDA version the driver supports, or null without a driver. */
    readonly driver?: string | null;
    readonly devices: readonly string[];
    /** Memory of the first device, which is the one used, in bytes; null if there is none. */
    readonly memoryBytes: number | null;
    readonly reason: string | null;
  };
  /** Version of the libnccl that was found, and which of its features are usable; or the reason why none is. */
  readonly nccl: {
    readonly version: string | null;
    readonly reason: string | null;
    readonly capabilities?: readonly string[];
  };
  /** Version of Gloo that was built against; or why none. */
  readonly gloo: { readonly version: string | null; readonly reason: string | null };
}

/** Bytes by purpose, on the device where engine or trainer compute. */
export interface MemorySizes {
  /** All weights in f32; with adapters the frozen base, but 0 on "cuda", where the base is in host memory. */
  readonly parameters: number;
  /** Gradients in f32 of trained weights; with sharding those held by a rank, including its shard. */
  readonly trained: number;
  /** Both moments of the optimizer: on the trainer's device, or page-locked in host memory (their windows are in `arrays`). */
  readonly moments: number;
  readonly hostMoments: number;
  /** With adapters on "cuda": temporary memory of the first packing of the base, freed before the first step. */
  readonly firstPacking: number;
  /** A and B, their packs, and the largest matrix they change; 0 without adapters. */
  readonly adapters: number;
  /** Weights in the kernels' layout; of these, those outside of layers; of these, the head's matrix, 0 if tied to the embedding. */
  readonly snapshot: number;
  readonly ends: number;
  readonly head: number;
  readonly ropeTables: number;
  /** The head, transposed for its backward pass. */
  readonly transposed: number;
  /** Activations of a micro-batch kept for its backward pass. */
  readonly activations: number;
  /** Live only while a layer runs. */
  readonly trainingScratch: number;
  /** Logits of a chunk of rows, in the head. */
  readonly logits: number;
  /** Arrays of a micro-batch; gradient norms; the optimizer's scratch. */
  readonly arrays: number;
  /** Keys and values of all pages, and of one. */
  readonly keyValues: number;
  readonly page: number;
  /** Scratch memory of an engine's step. */
  readonly engineScratch: number;
}

/** Types of a trainer and its engines: of matrices, keys and values. On "cuda" bf16, masters f32, products the GPU's own. */
export interface WeightTypes {
  readonly weightStorage: "f32" | "bf16";
  /** Type of both factors of the layers' products; bf16 needs weightStorage "bf16". Default: f32. */
  readonly arithmetic?: "f32" | "bf16";
}

export interface EngineOptions extends WeightTypes {
  readonly maxRunning: number;
  readonly pageTokens: number;
  readonly pages: number;
  readonly maxContext: number;
  readonly stepTokens: number;
  /** Keys, values and the weights are bf16 on "cuda". Default: {@link defaultDevice}. */
  readonly device?: DeviceName;
  /** On "cuda": record decode steps as CUDA graphs. Default: true. */
  readonly graphs?: boolean;
  /** 64-bit; keys every sampled token together with problem, attempt and position. */
  readonly runSeed: bigint;
  /** UTF-8 bytes of each token id; needed only for stop strings. */
  readonly tokenBytes?: readonly Uint8Array[];
}

/** From generated token `fromToken` on, sample with weight `version` (replay). */
export interface VersionRun {
  readonly fromToken: number;
  readonly version: number;
  /** The keys of all tokens before are computed anew, with this version (a rollout that was taken up again). */
  readonly anew?: boolean;
}

export interface GenerationRequest extends TakenUp {
  /** Chosen by the caller, unique while it runs, a safe integer. */
  readonly id: number;
  readonly prompt: Int32Array;
  readonly count: number;
  readonly problem: number;
  readonly firstAttempt: number;
  /** One 64-bit seed per attempt, replacing the engine's runSeed; every attempt is then attempt `firstAttempt` of its seed. */
  readonly seeds?: readonly bigint[];
  readonly sampling: SamplingOptions;
  readonly maxTokens: number;
  readonly stopIds: readonly number[];
  readonly stopStrings?: readonly string[];
  /** Set by wrappers: how many of the prompt's last tokens were sampled before; stop strings may begin in them. */
  readonly begunTokens?: number;
  /** Replay: one list per attempt. */
  readonly plan?: readonly (readonly VersionRun[])[];
}

/** Codes of `finish` in step messages, by position. */
export const FINISH = ["running", "eos", "stop", "length", "abort"] as const;

/** New tokens since the last message, as a structure of arrays; entry i is one token of one attempt. */
export interface EngineMessage {
  readonly request: Float64Array;
  readonly attempt: Int32Array;
  readonly token: Int32Array;
  readonly logprob: Float32Array;
  readonly entropy: Float32Array;
  readonly version: Uint32Array;
  readonly oldestKv: Uint32Array;
  /** Index into FINISH. */
  readonly finish: Uint8Array;
  /** Attempts that ended without a new token (aborts). */
  readonly endedRequest: Float64Array;
  readonly endedAttempt: Int32Array;
  readonly endedFinish: Uint8Array;
}

export interface EngineStats extends TakenUpStats {
  readonly steps: number;
  readonly prefillTokens: number;
  readonly decodeTokens: number;
  readonly preemptions: number;
  /** Weight versions taken over. */
  readonly weightSwaps: number;
  readonly finished: number;
  readonly waiting: number;
  readonly running: number;
  readonly pagesUsed: number;
  readonly pagesTotal: number;
  readonly busySeconds: number;
  readonly prefillSeconds: number;
  readonly decodeSeconds: number;
  /** Copying cache pages to and from host memory; part of `busySeconds`. */
  readonly pageSwapSeconds: number;
  /** Taking over new weights, between steps. */
  readonly weightSwapSeconds: number;
  readonly version: number;
}

/** A generation engine with a thread of its own. `new Engine(config, options, handlers)`. */
export interface EngineFace extends TakesUp {
  /** Throws HONE_ERR_CONFIG at once for a request that can never run. */
  submit(request: GenerationRequest): void;
  abort(id: number, attempt?: number): void;
  stats(): EngineStats;
  /** Stops the thread after the current step; idempotent. */
  close(): Promise<void>;
}

export interface EngineHandlers extends RecordHandler {
  onMessage(message: EngineMessage): void;
  /** The engine thread failed; no further calls follow. */
  onError(error: Error): void;
}

export type ObjectiveName =
  | "gspo"
  | "grpo"
  | "dapo"
  | "dr-grpo"
  | "ppo-clip"
  | "cispo"
  | "reinforce-clamped"
  | "reinforce"
  | "gspo-token"
  | "gmpo"
  | "sapo"
  | "custom"
  | "supervised";

/** csrc/kernels/policy_loss.h has the formulas. */
export type CorrectionName =
  | "none"
  | "tis"
  | "sequence-tis"
  | "icepop"
  | "sequence-mask"
  | "geometric-mask"
  | "dppo-tv"
  | "dppo-kl";

export interface OptimizerOptions {
  readonly kind: "adamw" | "muon";
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  readonly decayAll: boolean;
  readonly muonMomentum: number;
  /** Global norm; 0 is off. */
  readonly gradientClip: number;
  /** Type of AdamW's m and v; bf16 rounds stochastically with draws keyed by `seed` (64-bit, default 0). Default: f32. */
  readonly moments?: "f32" | "bf16";
  readonly seed?: bigint;
  /** Location of AdamW's m and v on "cuda": "host" streams them through the device in every step, with the same bits. Default: "device". */
  readonly memory?: "device" | "host";
}

/** Low-rank adapters: W + alpha/rank B A takes the place of W; A, drawn with the 64-bit seed, and B, 0 at first, are trained. */
export interface LoraOptions {
  readonly rank: number;
  readonly alpha: number;
  /** Names of matrices ("q_proj"), or "all-linear" alone. */
  readonly targets: readonly string[];
  readonly seed: bigint;
}

/**
 * State that cooperating trainers shard (docs/explanation/numerics.md): AdamW's moments; also gradients; or also
 * weights. All of them must make the same steps, scores, saves and loads, with the same arguments; with "parameters"
 * also the same calls of every other method that reads weights (parameter, saveModel, sendWeights).
 */
export interface ShardingOptions {
  readonly stage: "optimizer" | "gradients" | "parameters";
  /** Gives the same bits for any number of trainers, including one. Default: false; always true for stages other than "optimizer". */
  readonly exact?: boolean;
  /** Number of neighbouring ranks that share each micro-batch, which then has that many times packedTokens (docs/how-to/cluster.md). Default: 1. */
  readonly sequence?: number;
  /** Its rank of the connected group, in use during each call; close it after the trainer. Default: a group of one. */
  readonly communicator?: CommunicatorFace;
  /** A second connection of the same ranks, for checkpoints written during training: `stage` needs it. Close it after the trainer. */
  readonly writers?: CommunicatorFace;
}

export interface TrainerOptions extends WeightTypes {
  readonly lora?: LoraOptions;
  readonly sharding?: ShardingOptions;
  readonly optimizer: OptimizerOptions;
  /** Token budget T of a micro-batch. */
  readonly packedTokens: number;
  /** On "cuda": rows whose gradients of logits are in memory at a time; also the chunk size of the sum for the head's dW. Default: 2048. */
  readonly headRows?: number;
  /** Default: see {@link defaultDevice}. */
  readonly device?: DeviceName;
  /** Keep what enters a layer and compute the rest again in the backward: less memory, the same bits. Default: false. */
  readonly recompute?: boolean;
  /** On "cuda": log-probs equal the engine's to the bit, with slower attention. Default: false. */
  readonly deterministic?: boolean;
}

/** T tokens over S sequences, see csrc/trainer/trainer.h. Arrays are copied at the call. */
export interface TrainingBatch extends TeacherTokens {
  readonly tokens: Int32Array;
  readonly cuSeqlens: Int32Array;
  readonly mask: Uint8Array;
  readonly behaviorLogprobs?: Float32Array;
  readonly referenceLogprobs?: Float32Array;
  /** [T] under the weights at the start of the batch, which a correction's ratios are to; absent in its only update. */
  readonly proximalLogprobs?: Float32Array;
  readonly advantages?: Float32Array;
  readonly tokenAdvantages?: Float32Array;
  /** [T] constant factors of the tokens' policy terms. Default: 1. */
  readonly tokenWeights?: Float32Array;
  /** [T] constant factors of |log rho_t|, beside them. Default: 0. */
  readonly tokenPenalties?: Float32Array;
  readonly groupSizes?: Int32Array;
  /** N of the step, which exceeds the sequences here if some only count (overlong filtering). Default: the number here. */
  readonly sequences?: number;
  /** Number of groups in the step, and Dr.GRPO's normaliser in tokens. */
  readonly groups?: number;
  readonly drGrpoNormalizer?: number;
}

export interface StepOptions {
  readonly objective: ObjectiveName;
  readonly sequenceWeight: "uniform" | "length";
  readonly clipLow: number;
  readonly clipHigh: number;
  /** For sapo, by the sign of the advantage. Default: 1 and 1.05. */
  readonly gate?: { readonly positive: number; readonly negative: number };
  readonly klCoef: number;
  /** Estimator of the KL term. Default: "k3". */
  readonly klEstimator?: "k1" | "k2" | "k3";
  readonly entropyCoef: number;
  readonly temperature: number;
  readonly lr: number;
  readonly muonLr: number;
  /** The weights change and their version does not: an update of a batch that has further ones. Default: false. */
  readonly keepsVersion?: boolean;
  /** For the objective "custom": called on this thread while the trainer waits; or its module, loaded first. An exception rejects the step and changes nothing. */
  readonly slopes?: ((request: SlopesRequest) => void) | SlopesModule;
  /** Constant token weights from the trainer's log-probs relative to those of the batch. Default: "none". */
  readonly correction?: { readonly kind: CorrectionName; readonly low: number; readonly high: number };
  /** Divergence from the teacher as a term of the loss. Default: none. */
  readonly divergence?: TeacherTerm;
  /** Terms about routers of a mixture of experts, csrc/kernels/router_loss.h: means over sequences and layers. Default: none. */
  readonly router?: { readonly balanceCoef: number; readonly zCoef: number };
}

export interface StepReport {
  readonly loss: number;
  readonly policyLoss: number;
  /** Of `loss`, the terms about routers. */
  readonly routerLoss: number;
  readonly gradNorm: number;
  readonly gradScale: number;
  readonly updateNorm: number;
  readonly weightNorm: number;
  readonly skipped: boolean;
  /** Index of the first sequence whose loss was not finite, or -1. */
  readonly nonFiniteSequence: number;
  readonly microBatches: number;
  readonly trainedTokens: number;
  readonly packedTokens: number;
  readonly forwardSeconds: number;
  readonly backwardSeconds: number;
  readonly optimizerSeconds: number;
  readonly packSeconds: number;
  /** Time from the call until the trainer's thread started it. */
  readonly startSeconds: number;
  /** Handing the weights to `publishTo`; 0 without. */
  readonly publishSeconds: number;
  /** [T] under the weights before the step, 0 where masked out. */
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly ratios: Float32Array;
  readonly clipped: Uint8Array;
  /** [T] weights of the correction, 0 where masked out; empty without one. */
  readonly weights: Float32Array;
  /** [T] divergences from the teacher, 0 where masked out; empty without one. */
  readonly divergences: Float32Array;
  /** [L, E] rows that went to each expert of each layer; empty without experts. */
  readonly expertRows: Float64Array;
  readonly layerGradNorms: Float64Array;
}

/** Gradients of P parts of a batch against each other, see csrc/trainer/trainer.h. */
export interface GradientParts {
  /** [P, P] inner products; NaN everywhere where a loss is not finite. */
  readonly products: Float64Array;
  readonly nonFiniteSequence: number;
  readonly microBatches: number;
  readonly seconds: number;
}

/** A trainer with a thread of its own: calls queue in order and resolve when done. */
export interface TrainerFace extends TeacherFace<TrainingBatch> {
  readonly version: number;
  initialize(seed: bigint): Promise<void>;
  /** Weights of a Hugging Face folder (safetensors, one file or shards). */
  loadHf(directory: string): Promise<void>;
  /** Passes the new weights to `publishTo`, if given, as `publish` does, unless the step is skipped. */
  step(batch: TrainingBatch, options: StepOptions, publishTo?: EngineFace): Promise<StepReport>;
  /** Takes no step. Sequence i belongs to part partOf[i] of `parts`; the gradients of all parts add up to the step's. */
  gradientParts(
    batch: TrainingBatch,
    options: StepOptions,
    partOf: Int32Array,
    parts: number,
  ): Promise<GradientParts>;
  score(batch: TrainingBatch, temperature: number): Promise<Record<"logprobs" | "entropies", Float32Array>>;
  /** Hands the current weights to an engine, which takes them at its next step boundary; resolves with the version. */
  publish(engine: EngineFace): Promise<number>;
  setVersion(version: number): Promise<void>;
  resetOptimizer(options: OptimizerOptions): Promise<void>;
  /** Directory appears complete or not at all. `extra` is any JSON text, returned by load. */
  save(directory: string, extra: string): Promise<void>;
  /** Resolves when the state is copied; the files that `save` would write are then written while later calls run. One at a time. */
  stage(directory: string, extra: string): Promise<void>;
  /** Resolves when the last staged checkpoint is complete; rejects with the error that prevented it. */
  written(): Promise<void>;
  load(directory: string): Promise<string>;
  /** A and B of a PEFT folder, for a trainer with `lora`. */
  loadAdapters(directory: string): Promise<void>;
  /** The weights as they are read, adapters merged into them, as a model folder in f32. */
  saveModel(directory: string): Promise<void>;
  /** With sharded parameters: gathers complete weights on all ranks until the next step or score. Otherwise does nothing. */
  gatherWeights(): Promise<void>;
  /** Copy of one tensor by its Hugging Face name. */
  parameter(name: string): Promise<Float32Array>;
  close(): Promise<void>;
}
