import { z } from "zod";
import { DEVICES, type DeviceName } from "../device.ts";
import { curriculumSchema } from "./curriculum.ts";
import { domainEnvironment } from "./environment.ts";
import { evaluationSchema, sourceSchema, verifierSchema } from "./evaluation.ts";
import { loraSchema } from "./lora.ts";
import { type ModelSizes, modelSizesSchema } from "./model-sizes.ts";
import { count, decay, INT32, LONGEST_TIMER_MS, MOST_SEQUENCES, orOff, positive, tokens } from "./numbers.ts";
import { objectiveSchema } from "./objective.ts";
import { optimizerSchema, type Warmed, warmStartSchema } from "./optimizer.ts";
import { pythonSchema } from "./python.ts";
import { recordSchema } from "./recorded-rollouts.ts";
import { replayBufferSchema } from "./replay-buffer.ts";
import { domainRewards } from "./reward.ts";
import { processesSchema } from "./roles.ts";
import { advantagesSchema, lengthPenaltySchema, rewardSchema } from "./shaping.ts";
import { shardingSchema } from "./sharding.ts";
import { teacherSchema } from "./teacher.ts";
import { trackersSchema } from "./trackers.ts";
import { verificationSchema } from "./verification.ts";

/**
 * Schema of a recipe, in the letters of the Apriel-Reasoner paper (docs/reference/glossary.md), with
 * defaults. Where the paper is silent, docs/architecture.md §8 gives the default and the field is its switch.
 */

export const MOST_PAGES = 1 << 28;

function isFileName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return !/[/\\\u0000-\u001f]/.test(name) && name !== "." && name !== "..";
}

/** Exactly one of `folder` and `config`. */
const modelSchema = z.strictObject({
  /** A published model to start from: its Hugging Face folder, or its name on the Hub ("org/name", "org/name@revision"). */
  folder: z.string().min(1).optional(),
  /** A new model of these sizes. */
  config: modelSizesSchema.optional(),
  /**
   * A PEFT folder whose adapters are trained further; they must have the rank, alpha and targets of `lora`.
   */
  adapter: z.string().min(1).optional(),
  /**
   * Type of matrices, keys and values in the core's memory: bf16 halves their memory and the bytes that decoding
   * reads. Default: bf16 for a folder whose config.json says that its weights are bf16, else f32; a resumed run keeps
   * its type.
   */
  weightStorage: z.enum(["f32", "bf16"]).optional(),
  /**
   * Type of both factors of the layers' products on the CPU; sums, attention and the head are f32. bf16 needs
   * weightStorage "bf16". Default: bf16 with this storage if the processor has AVX512-BF16, else f32; a resumed run
   * keeps its type.
   */
  arithmetic: z.enum(["f32", "bf16"]).optional(),
});

const chatTemplateSchema = z.strictObject({
  /** A .jinja file to use instead of the model's own template. */
  file: z.string().min(1).optional(),
  /** Prompt with the plain text, without a chat template; a model folder without a template always does. */
  plain: z.boolean().optional(),
  /** Variables of the template, such as {enable_thinking: false}; they override Hone's own. */
  variables: z.record(z.string().min(1), z.json()).optional(),
  /** System message of every prompt that has none of its own. */
  system: z.string().min(1).optional(),
});

const domainSchema = z.strictObject({
  /** w_d: the domain's target share of completed rollouts, on any scale; 0: the domain is evaluated but never trained on. */
  weight: orOff().default(1),
  source: sourceSchema,
  verifier: verifierSchema.optional(),
  ...domainRewards,
  ...domainEnvironment,
  /** Selects the next problems, if they are rows of a data set. Default: all in turn (source.draw). */
  curriculum: curriculumSchema,
});

const rolloutsSchema = z.strictObject({
  /** G: attempts at each problem. */
  groupSize: z.int().min(2).max(MOST_SEQUENCES).default(8),
  /** L: generated tokens at most, thinking included. */
  maxOutputTokens: tokens(),
  /** Rows of data sets with longer prompts are left out; longer generated problems are drawn again. */
  maxPromptTokens: tokens(),
  temperature: z.number().min(1e-3).max(1e3).default(1),
  /** 0 is off. */
  topK: z.int().min(0).max(INT32).default(0),
  topP: positive(1).default(1),
  minP: decay().default(0),
  /**
   * Never sample ids beyond the tokenizer's, if the model's embedding has more rows (docs/explanation/numerics.md).
   * Default: false for a new run; a resumed run keeps its own.
   */
  maskPadding: z.boolean().optional(),
  stopStrings: z.array(z.string().min(1)).default([]),
  /** Tokens that end a completion, replacing all those that the model's files and chat template name as an end. */
  stopIds: z.array(z.int().min(0).max(INT32)).min(1).optional(),
  /**
   * Keep what each step trained on in the run folder (rollouts/, docs/reference/rollouts.md), or with "last:20" that of the
   * last 20 steps: about 11 bytes a generated token.
   */
  record: recordSchema.default(false),
  /**
   * Record unfinished rollouts every so many tokens, in case an actor or the run is killed
   * (docs/reference/rollouts.md). With 0 unfinished rollouts start again.
   */
  recordEveryTokens: z.int().min(0).max(INT32).default(0),
});

const trainingSchema = z.strictObject({
  steps: z.int().min(0).max(INT32),
  /** P: groups (prompts) per optimizer step. */
  groupsPerStep: count(2 ** 20).default(16),
  /**
   * Optimizer updates per epoch over a step's groups, each on as equal a share of them as possible. With more than
   * one, or with several epochs, the old log-probs are those before the first update.
   */
  updatesPerBatch: count(2 ** 16).default(1),
  /** Passes over the groups of a step. */
  epochs: count(2 ** 10).default(1),
  /** Groups that groupsPerStep counts: all that completed, or those that survived the filter. */
  countGroups: z.enum(["completed", "kept"]).default("completed"),
  /** "sync" is strictly on-policy: generate, train, publish, repeat. */
  schedule: z.enum(["async", "sync"]).default("async"),
  /** A token's sampling weights are at most this many versions older than those of the step that first trains it. */
  maxLag: z
    .int()
    .min(0)
    .max(2 ** 20)
    .default(1),
  /** Train groups of earlier steps again, beside a step's fresh ones. Default: every group trains in one step only. */
  replayBuffer: replayBufferSchema,
  /** Maximum number of groups between submission and training; default: groupsPerStep * (maxLag + 1). */
  credits: count().optional(),
  /** T: tokens of a micro-batch. */
  packedTokens: tokens().default(4096),
  /**
   * On a GPU: rows of a micro-batch whose gradients of logits are in memory at a time, 2 bytes per vocabulary entry
   * each. The head's gradient is read and written once per block of rows, and its bits depend on this; no effect on
   * the CPU.
   */
  headRows: z.literal([2048, 4096, 8192]).default(2048),
  /** After a step whose loss or gradient is not finite: continue without it, or end the run. */
  onNonFinite: z.enum(["skip", "stop"]).default("skip"),
  /** With onNonFinite "skip": number of skipped steps in a row after which the run ends. */
  maxSkippedInARow: count().default(3),
  /** Seconds without progress after which the run fails with an error that names the stages that wait. */
  stallSeconds: z
    .number()
    .min(0.001)
    .max(LONGEST_TIMER_MS / 1000)
    .default(300),
});

const engineSchema = z
  .strictObject({
    /** B: sequences decoding at once. */
    maxRunning: count(MOST_SEQUENCES).default(64),
    pageTokens: count(2 ** 12)
      .multipleOf(16)
      .default(16),
    /** Pages of the key/value cache; default: enough for maxRunning whole contexts. */
    pages: count(MOST_PAGES).optional(),
    stepTokens: count(2 ** 24).default(512),
    /** On a GPU: record decode steps as CUDA graphs and launch those. The tokens are the same either way. */
    graphs: z.boolean().default(true),
  })
  .prefault({});

const checkpointSchema = z
  .strictObject({
    everySteps: z.int().min(0).default(5), // 0: only at the end and on request
    keepLast: count().default(3),
    /** Copy the state and write it during training; false: training waits, and no memory for a copy is needed. */
    async: z.boolean().default(true),
    /** Steps that a run may train, retrying, while a full or failing disk keeps a checkpoint from being written. */
    maxUnsavedSteps: z.int().min(0).default(0),
    keepEvery: z.int().min(0).default(0), // also keep the checkpoints of steps divisible by this; 0: none
    /** Also keep this many of the checkpoints with the best `evaluation` scores during training. */
    keepBest: z.int().min(0).default(0),
  })
  .prefault({});

const metricsSchema = z
  .strictObject({
    /** Compares domains' gradients (docs/reference/metrics.md, "How domains' gradients affect each other"). */
    gradients: z
      .strictObject({
        /** Gradients are measured in steps divisible by this number, each at the cost of one more forward and backward. 0: never. */
        everySteps: z.int().min(0).default(0),
        /**
         * Also measure the gradient noise scale from two halves of each domain's groups: needs twice the gradients in
         * host memory.
         */
        noiseScale: z.boolean().default(true),
      })
      .prefault({}),
  })
  .prefault({});

/** GPUs that a recipe is meant for. `hone plan` and `hone check` read it; a run refuses what this version cannot do. */
const hardwareSchema = z.strictObject({
  gpu: z.string().min(1).optional(), // shown to users: "H100 80GB"
  gpuMemoryGiB: positive().optional(), // memory of one GPU; default: that of the machine's first GPU
  gpus: count(2 ** 20).default(1),
  /** Machines over which GPUs or processes are spread; `hone launch` requests them. Default 1. */
  nodes: count(2 ** 16).optional(),
  /** GPUs that generate, while the others train; default: every GPU does both. */
  actorGpus: count().optional(),
  recompute: z.boolean().default(false), // the backward pass computes activations again instead of keeping all
  processes: processesSchema.optional(), // processes beside the run's own (docs/how-to/cluster.md)
  /** State that trainers shard among themselves. Default, with several trainers: AdamW's moments, exactly. */
  sharding: shardingSchema.optional(),
  weights: z.enum(["communicator", "folder"]).optional(), // how weights are sent to actors; default: "communicator" if Gloo is available, else "folder"
  /**
   * Memory of AdamW's moments: on the GPU ("device", the default), or in host memory, from which every step streams
   * them through the GPU.
   */
  optimizerMemory: z.enum(["device", "host"]).optional(),
});

export const recipeSchema = z.strictObject({
  /** Name of the run. It is also the name of the run folder, so it must be a plain file name. */
  name: z
    .string()
    .min(1)
    .max(128)
    .refine(
      isFileName,
      "it names the folder under runs/, so it may hold no /, no \\ and no control characters",
    )
    .default("run"),
  hardware: hardwareSchema.optional(),
  /** Seed of every random draw of the run. */
  seed: z.int().min(0).default(0),
  /** Device that generates and trains; default: "cuda" for a recipe whose `hardware` names GPUs, else HONE_DEVICE, else "cpu". */
  device: z.enum(DEVICES).optional(),
  /**
   * On a GPU: the trainer's attention uses the same instructions as generation, so that their log-probs agree to the
   * bit; false is faster and agrees within the bound of docs/explanation/numerics.md. On the CPU they always agree to
   * the bit.
   */
  deterministic: z.boolean().default(false),
  model: modelSchema,
  /** Train low-rank adapters and leave the weights as they are. */
  lora: loraSchema.optional(),
  /**
   * "model": the tokenizer of the model's folder, default if it has one. "lexicon/quickstart": characters and
   * the words of the procedural tasks, default for a new model.
   */
  tokenizer: z.enum(["model", "lexicon/quickstart"]).optional(),
  /** Template that turns a problem into a prompt; default: the model's own. */
  chatTemplate: chatTemplateSchema.optional(),
  domains: z.record(z.string().min(1), domainSchema),
  /**
   * Counts by which the sampler keeps the weights w_d. "adaptive": completed rollouts, as in the
   * Apriel-Reasoner paper (§4.1); "trained": those that passed the filter; "static": none, every prompt is
   * drawn by w_d.
   */
  sampler: z.enum(["adaptive", "trained", "static"]).default("adaptive"),
  rollouts: rolloutsSchema,
  reward: rewardSchema,
  lengthPenalty: lengthPenaltySchema,
  advantages: advantagesSchema,
  objective: objectiveSchema,
  /** A larger model to learn from, token by token. */
  teacher: teacherSchema,
  optimizer: optimizerSchema,
  training: trainingSchema,
  warmStart: warmStartSchema.optional(),
  engine: engineSchema,
  verification: verificationSchema,
  /** How Python is started for rewards and environments in Python files (docs/how-to/rewards.md). */
  python: pythonSchema.optional(),
  checkpoint: checkpointSchema,
  evaluation: evaluationSchema,
  metrics: metricsSchema,
  sinks: z
    .array(z.enum(["jsonl", "tensorboard", "prometheus"]))
    .refine((names) => new Set(names).size === names.length, "it names a sink twice")
    .default(["jsonl", "tensorboard"]),
  /** Trackers that receive the run's numbers (docs/how-to/trackers.md); their keys are in the environment. */
  trackers: trackersSchema,
});

/** Content of a recipe file. */
export type RecipeInput = z.input<typeof recipeSchema>;
type Parsed = z.output<typeof recipeSchema>;

/** Model that a run starts from: a published model's folder, or sizes of a new model. */
export type ModelChoice = Pick<Parsed["model"], "weightStorage" | "arithmetic" | "adapter"> &
  (
    | { readonly folder: string; readonly config?: undefined }
    | { readonly config: ModelSizes; readonly folder?: undefined }
  );

type Derived =
  | "device"
  | "training"
  | "engine"
  | "model"
  | "tokenizer"
  | "optimizer"
  | "warmStart"
  | "advantages";

/** A recipe with every default filled in, including those derived from other fields. */
export type Recipe = Omit<Parsed, Derived> & {
  readonly device: DeviceName;
  readonly optimizer: Warmed<Parsed["optimizer"]> & { readonly lr: number };
  readonly warmStart?: Warmed<NonNullable<Parsed["warmStart"]>> | undefined;
  readonly training: Parsed["training"] & { readonly credits: number };
  readonly engine: Parsed["engine"] & { readonly pages: number };
  readonly advantages: Parsed["advantages"] & {
    readonly filter: NonNullable<Parsed["advantages"]["filter"]>;
  };
  readonly model: ModelChoice;
  readonly tokenizer: NonNullable<Parsed["tokenizer"]>;
};
export type ParsedRecipe = Parsed;
export type WarmStartConfig = NonNullable<Recipe["warmStart"]>;

/** Longest sequence a run can meet: prompt and response, tokens. */
export function maxContext({ rollouts }: Pick<Recipe, "rollouts">): number {
  return rollouts.maxPromptTokens + rollouts.maxOutputTokens;
}

/** Longest sequence an evaluation can meet: its budget may be larger than training's. */
export function evaluationContext({ rollouts, evaluation }: Pick<Recipe, "rollouts" | "evaluation">): number {
  const own = Object.values(evaluation.sets).map(({ maxTokens }) => maxTokens);
  const budgets = [rollouts.maxOutputTokens, evaluation.maxTokens, ...own].filter(
    (budget) => budget !== undefined,
  );
  return rollouts.maxPromptTokens + Math.max(...budgets);
}
