import { maxContext, type Recipe, rolesOf, shardingOf } from "../config/index.ts";

/** Something a recipe can do without, and what that costs. */
export interface Change {
  readonly name: string;
  /** Cost of the change, in time or in what the run computes. */
  readonly cost: string;
  /** True if the change costs time but changes no result; a run that would not fit applies it automatically. */
  readonly isFree?: true;
  /** `--set` assignments of the change; undefined if the recipe already has it or does not allow it. */
  readonly assignments: (recipe: Recipe) => readonly string[] | undefined;
}

/** Smallest engine.stepTokens that is proposed; with fewer rows a step, reading prompts gets slow. */
const FEW_STEP_TOKENS = 256;
const FEWEST_HEAD_ROWS = 2048;

/**
 * Changes that `hone plan` may propose, cheapest first: those without effect on results and little on time, those
 * that cost time, those that drop a measurement, those that round, those that train something else. Each costs more
 * than all before it together. Fewer pages are chosen separately (PAGES, FEWEST_PAGES), since their number depends on
 * the remaining memory.
 */
export const CHANGES: readonly Change[] = [
  {
    name: "engine.stepTokens",
    cost: "prompts are read in smaller pieces",
    assignments: ({ engine }) => {
      const few = Math.max(FEW_STEP_TOKENS, engine.maxRunning + 1);
      return engine.stepTokens > few ? [`engine.stepTokens=${few}`] : undefined;
    },
  },
  {
    name: "training.headRows",
    cost: "the head's gradient is read and written more often: the same sum in shorter parts",
    assignments: ({ training }) =>
      training.headRows > FEWEST_HEAD_ROWS ? [`training.headRows=${FEWEST_HEAD_ROWS}`] : undefined,
  },
  {
    name: "training.packedTokens",
    cost: "more and smaller micro-batches a step: the same gradient, summed in another order",
    assignments: (recipe) => {
      const longest = maxContext(recipe);
      return recipe.training.packedTokens > longest ? [`training.packedTokens=${longest}`] : undefined;
    },
  },
  {
    name: "engine.pages",
    cost: "fewer answers at once where they are long: generation takes longer, each answer is the same",
    assignments: () => undefined,
  },
  {
    name: "checkpoint.async",
    cost: "training waits while a checkpoint is written",
    isFree: true,
    assignments: ({ checkpoint }) => (checkpoint.async ? ["checkpoint.async=false"] : undefined),
  },
  {
    name: "hardware.recompute",
    cost: "one more forward of every micro-batch (17 % more CPU time a step): the same bits",
    isFree: true,
    assignments: ({ hardware }) => (hardware?.recompute ? undefined : ["hardware.recompute=true"]),
  },
  {
    name: "hardware.sharding.stage",
    cost: "trainers gather a layer's weights whenever they use it: more traffic between them, the same bits",
    assignments: (recipe) =>
      (rolesOf(recipe)?.trainers ?? 0) > 1 && shardingOf(recipe)?.stage !== "parameters"
        ? ["hardware.sharding.stage=parameters"]
        : undefined,
  },
  {
    name: "hardware.optimizerMemory",
    cost: "the moments lie in host memory, and each step takes them to the GPU and back over the bus: the same bits",
    assignments: ({ hardware }) =>
      hardware?.optimizerMemory === "host" ? undefined : ["hardware.optimizerMemory=host"],
  },
  {
    name: "metrics.gradients.noiseScale",
    cost: "no gradient noise scale; norms, cosines and shares of domains stay",
    assignments: ({ metrics: { gradients } }) =>
      gradients.everySteps > 0 && gradients.noiseScale ? ["metrics.gradients.noiseScale=false"] : undefined,
  },
  {
    name: "metrics.gradients.everySteps",
    cost: "gradients of domains are not measured",
    assignments: ({ metrics: { gradients } }) =>
      gradients.everySteps > 0 ? ["metrics.gradients.everySteps=0"] : undefined,
  },
  {
    name: "evaluation.everySteps",
    cost: "no evaluation beside training; checkpoints can be evaluated afterwards",
    assignments: ({ evaluation, checkpoint }) =>
      evaluation.everySteps === 0
        ? undefined
        : ["evaluation.everySteps=0", ...(checkpoint.keepBest > 0 ? ["checkpoint.keepBest=0"] : [])],
  },
  {
    name: "optimizer.moments",
    cost: "the optimizer's moments are rounded at random to bf16",
    assignments: ({ optimizer }) => (optimizer.moments === "bf16" ? undefined : ["optimizer.moments=bf16"]),
  },
  {
    name: "model.weightStorage",
    cost: "matrices, keys and values are rounded to bf16",
    assignments: ({ model }) => (model.weightStorage === "bf16" ? undefined : ["model.weightStorage=bf16"]),
  },
  {
    name: "lora",
    cost: "adapters are trained and the weights are not; use some ten times the optimizer.lr",
    assignments: ({ lora }) => (lora === undefined ? ["lora.rank=16"] : undefined),
  },
  {
    name: "fewest engine.pages",
    cost: "few answers at once: generation takes several times as long",
    assignments: () => undefined,
  },
];
/** Fewer pages, down to a quarter of the requested number. */
export const PAGES = CHANGES.findIndex(({ name }) => name === "engine.pages");
/** Number of cache pages for one longest context. */
export const FEWEST_PAGES = CHANGES.findIndex(({ name }) => name === "fewest engine.pages");
