// The native core's interfaces in TypeScript, implemented by engine.ts and trainer.ts over the addon. Other modules depend
// on the interfaces only. Typed arrays and flat options cross to C++, in one message per engine step, not per token.
import type { SlopesModule, SlopesRequest } from "../custom-objective.ts";
import type { DeviceName } from "../device.ts";
import type { RecordHandler, TakenUp, TakenUpStats, TakesUp } from "./attempt-tokens.ts";
import type { CommunicatorFace } from "./group-face.ts";
import type { BatchRoutes, MessageRoutes, RecordsRoutes, RouteCounts } from "./route-face.ts";
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
    /** Memory of the first device, which Hone uses, in bytes; null without a device. */
    readonly memoryBytes: number | null;
    readonly reason: string | null;
  };
  /** Version of the libnccl that was found, and which of its features are usable; or the reason why none is. */
  readonly nccl: {
    readonly version: string | null;
    readonly reason: string | null;
    readonly capabilities?: readonly string[];
  };
  /** Version of Gloo that the core was built with; or the reason why it has none. */
  readonly gloo: { readonly version: string | null; readonly reason: string | null };
}

/** Bytes by purpose, on the device where engine or trainer compute. */
export interface MemorySizes {
  /** All weights in f32; with adapters the frozen base as it is stored, but 0 on "cuda", where it is in host memory. */
  readonly parameters: number;
  /** Bytes of f32 gradients of trained weights; with sharding, of those that a rank holds at a time, shard included. */
  readonly trained: number;
  /** Both moments of the optimizer: on the trainer's device; `hostMoments`: in page-locked host memory. */
  readonly moments: number;
  readonly hostMoments: number;
  /** With adapters on "cuda": temporary memory of the first packing of the base, freed before the first step. */
  readonly firstPacking: number;
  /** The adapters A and B, their packs, and the largest matrix that they change; 0 without adapters. */
  readonly adapters: number;
  /** Bytes of packed weights; `ends`: outside of layers; `head`: the head's matrix, part of `ends`, 0 if tied. */
  readonly snapshot: number;
  readonly ends: number;
  readonly head: number;
  readonly ropeTables: number;
  /** Activations of a micro-batch kept for its backward pass. */
  readonly activations: number;
  /** Buffers of training that are in use only while a layer runs. */
  readonly trainingScratch: number;
  /** Logits of the rows that the head computes at a time. */
  readonly logits: number;
  /** A micro-batch's arrays; gradient norms; optimizer scratch, with the windows of host moments. */
  readonly arrays: number;
  /** Bytes of keys and values in all cache pages; `page`: in one page. */
  readonly keyValues: number;
  readonly page: number;
  /** Scratch memory of an engine's step. */
  readonly engineScratch: number;
}

/** Types that a trainer and its engines share. "cuda" ignores both: bf16, with master weights in f32. */
export interface WeightTypes {
  readonly weightStorage: "f32" | "bf16";
  /** Type of both factors of the layers' products; bf16 needs weightStorage "bf16". Default: f32. */
  readonly arithmetic?: "f32" | "bf16";
}

export interface EngineOptions extends WeightTypes, RecordsRoutes {
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

/** For replay: the engine samples with weight `version` from generated token `fromToken` on. */
export interface VersionRun {
  readonly fromToken: number;
  readonly version: number;
  /** The keys of all earlier tokens are recomputed with this version, as for a resumed rollout. */
  readonly anew?: boolean;
}

export interface GenerationRequest extends TakenUp {
  /** A safe integer that the caller chooses, unique among running requests. */
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
  /** Set by wrappers: how many of the prompt's last tokens were sampled; stop strings may begin there. */
  readonly begunTokens?: number;
  /** For replay: one list of version runs per attempt. */
  readonly plan?: readonly (readonly VersionRun[])[];
}

/** Codes of `finish` in step messages, by position. */
export const FINISH = ["running", "eos", "stop", "length", "abort"] as const;

/** New tokens since the last message, as a structure of arrays; entry i is one token of one attempt. */
export interface EngineMessage extends MessageRoutes {
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
  /** How often the engine switched to new weights. */
  readonly weightSwaps: number;
  readonly finished: number;
  readonly waiting: number;
  readonly running: number;
  readonly pagesUsed: number;
  readonly pagesTotal: number;
  readonly busySeconds: number;
  readonly prefillSeconds: number;
  readonly decodeSeconds: number;
  /** Time of copying cache pages to and from host memory; part of `busySeconds`. */
  readonly pageSwapSeconds: number;
  /** Time of switching to new weights, between steps. */
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
  /** Maximum global norm of the gradient; 0 turns clipping off. */
  readonly gradientClip: number;
  /** Type of AdamW's m and v; bf16 rounds stochastically with draws keyed by `seed` (64-bit, default 0). Default: f32. */
  readonly moments?: "f32" | "bf16";
  readonly seed?: bigint;
  /** Location of AdamW's m and v on "cuda": "host" streams them through the device in every step, with the same bits. Default: "device". */
  readonly memory?: "device" | "host";
}

/** Low-rank adapters: W + alpha/rank B A replaces W; trains A (drawn with `seed`) and B (0 at first). */
export interface LoraOptions {
  readonly rank: number;
  readonly alpha: number;
  /** Names of matrices ("q_proj"), or "all-linear" alone. */
  readonly targets: readonly string[];
  readonly seed: bigint;
}

/**
 * State that a group of trainers shards (docs/explanation/numerics.md): AdamW's moments; also gradients; or
 * also weights. All ranks make the same steps, scores, saves and loads, with the same arguments; with
 * "parameters" also the same calls of other methods that read weights (parameter, saveModel, sendWeights).
 */
export interface ShardingOptions {
  readonly stage: "optimizer" | "gradients" | "parameters";
  /** Gives the same bits for any number of trainers, including one. Default: false; always true for stages other than "optimizer". */
  readonly exact?: boolean;
  /** Number of neighbouring ranks that share each micro-batch, which then has that many times packedTokens (docs/how-to/cluster.md). Default: 1. */
  readonly sequence?: number;
  /** Communicator of the group of ranks to which this trainer belongs; close it after the trainer. Default: a group of one. */
  readonly communicator?: CommunicatorFace;
  /** A second connection of the same ranks, for checkpoints written during training: `stage` needs it. Close it after the trainer. */
  readonly writers?: CommunicatorFace;
}

export interface TrainerOptions extends WeightTypes {
  readonly lora?: LoraOptions;
  readonly sharding?: ShardingOptions;
  readonly optimizer: OptimizerOptions;
  /** Maximum number of tokens in a micro-batch, T. */
  readonly packedTokens: number;
  /** On "cuda": rows whose gradients of logits are in memory at a time; also the chunk size of the sum for the head's dW. Default: 2048. */
  readonly headRows?: number;
  /** Default: see {@link defaultDevice}. */
  readonly device?: DeviceName;
  /** Keeps only inputs of layers and recomputes the rest in the backward: the same bits. Default: false. */
  readonly recompute?: boolean;
  /** On "cuda": log-probs equal the engine's to the bit, with slower attention. Default: false. */
  readonly deterministic?: boolean;
}

/** T tokens over S sequences, see csrc/trainer/trainer.h. Arrays are copied at the call. */
export interface TrainingBatch extends TeacherTokens, BatchRoutes {
  readonly tokens: Int32Array;
  readonly cuSeqlens: Int32Array;
  readonly mask: Uint8Array;
  readonly behaviorLogprobs?: Float32Array;
  readonly referenceLogprobs?: Float32Array;
  /** [T] log-probs at the start of the batch, for a correction's ratios; absent if it has one update. */
  readonly proximalLogprobs?: Float32Array;
  readonly advantages?: Float32Array;
  readonly tokenAdvantages?: Float32Array;
  /** [T] constant factors of the tokens' policy terms. Default: 1. */
  readonly tokenWeights?: Float32Array;
  /** [T] constant factors of the tokens' penalties |log rho_t|. Default: 0. */
  readonly tokenPenalties?: Float32Array;
  readonly groupSizes?: Int32Array;
  /** N, by which the loss is divided. Default: the number of sequences; more if masked overlong ones count too. */
  readonly sequences?: number;
  /** Number of groups in the step; `drGrpoNormalizer`: Dr.GRPO's normalizer in tokens. */
  readonly groups?: number;
  readonly drGrpoNormalizer?: number;
}

export interface StepOptions {
  readonly objective: ObjectiveName;
  readonly sequenceWeight: "uniform" | "length";
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly dualClip?: number;
  readonly offPolicyMask?: number;
  /** Temperatures of sapo's gate, by the sign of the advantage. Default: 1 and 1.05. */
  readonly gate?: { readonly positive: number; readonly negative: number };
  readonly klCoef: number;
  /** Estimator of the KL term. Default: "k3". */
  readonly klEstimator?: "k1" | "k2" | "k3" | "unbiased";
  readonly entropyCoef: number;
  readonly temperature: number;
  readonly lr: number;
  readonly muonLr: number;
  /** True for all updates of a batch but the last: keeps the version. Default: false. */
  readonly keepsVersion?: boolean;
  /** For the objective "custom": called on this thread while the trainer waits; or its module, loaded first. An exception rejects the step and changes nothing. */
  readonly slopes?: ((request: SlopesRequest) => void) | SlopesModule;
  /** Constant token weights from the trainer's log-probs relative to those of the batch. Default: "none". */
  readonly correction?: { readonly kind: CorrectionName; readonly low: number; readonly high: number };
  /** Divergence from the teacher as a term of the loss. Default: none. */
  readonly divergence?: TeacherTerm;
  /** Loss terms of routers, csrc/kernels/router_loss.h: means over sequences and layers. Default: none. */
  readonly router?: { readonly balanceCoef: number; readonly zCoef: number };
}

export interface StepReport extends RouteCounts {
  readonly loss: number;
  readonly policyLoss: number;
  /** Part of `loss`: the terms of `router`. */
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
  /** Time for handing the weights to the engine `publishTo`; 0 without one. */
  readonly publishSeconds: number;
  /** [T] log-probs under the weights before the step, 0 where masked out. */
  readonly logprobs: Float32Array;
  readonly entropies: Float32Array;
  readonly ratios: Float32Array;
  readonly clipped: Uint8Array;
  /** [T] token weights of the correction, 0 where masked out; empty without a correction. */
  readonly weights: Float32Array;
  /** [T] divergences from the teacher, 0 where masked out; empty without a teacher. */
  readonly divergences: Float32Array;
  /** [L, E] rows that went to each expert of each layer; empty without experts. */
  readonly expertRows: Float64Array;
  readonly layerGradNorms: Float64Array;
}

/** How gradients of P parts of a batch agree, see csrc/trainer/trainer.h. */
export interface GradientParts {
  /** [P, P] inner products of the parts' gradients; all NaN if a loss is not finite. */
  readonly products: Float64Array;
  readonly nonFiniteSequence: number;
  readonly microBatches: number;
  readonly seconds: number;
}

/** A trainer with a thread of its own: calls queue in order and resolve when done. */
export interface TrainerFace extends TeacherFace<TrainingBatch> {
  readonly version: number;
  initialize(seed: bigint): Promise<void>;
  /** Loads the weights of a Hugging Face folder (safetensors, one file or shards). */
  loadHf(directory: string): Promise<void>;
  /** Publishes the new weights to `publishTo`, if given, unless the step is skipped. */
  step(batch: TrainingBatch, options: StepOptions, publishTo?: EngineFace): Promise<StepReport>;
  /** Computes gradients only. Sequence i belongs to part partOf[i]; the parts add up to a step's gradient. */
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
  /** The directory appears complete or not at all. `extra` is any JSON text, which `load` returns. */
  save(directory: string, extra: string): Promise<void>;
  /** Copies the state and resolves; then writes the files of `save` while later calls run. Only one at a time. */
  stage(directory: string, extra: string): Promise<void>;
  /** Resolves when the last staged checkpoint is complete; rejects with the error that prevented it. */
  written(): Promise<void>;
  load(directory: string): Promise<string>;
  /** Loads A and B from a PEFT folder into a trainer with `lora`. */
  loadAdapters(directory: string): Promise<void>;
  /** Saves the weights, with adapters merged into them, as a model folder in f32. */
  saveModel(directory: string): Promise<void>;
  /** With sharded parameters: gathers complete weights on all ranks until the next step or score. Otherwise does nothing. */
  gatherWeights(): Promise<void>;
  /** Copy of one tensor by its Hugging Face name. */
  parameter(name: string): Promise<Float32Array>;
  close(): Promise<void>;
}
