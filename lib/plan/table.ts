import { basename } from "node:path";
import { defineRecipe, maxContext, overrideRecipe, type Recipe } from "../config/index.ts";
import { PUBLISHED_CONFIGS } from "../inference/index.ts";
import { measureMemory } from "./memory.ts";
import { KEY_VALUES } from "./rows.ts";

const MODELS = [
  "Qwen/Qwen3-0.6B",
  "Qwen/Qwen3-1.7B",
  "Qwen/Qwen3-4B",
  "Qwen/Qwen3-8B",
  "ServiceNow-AI/Apriel-1.5-15b-Thinker",
] as const;

/** Trained parameters, by their name in the table. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  full: [],
  "full, recompute": ["hardware.recompute=true"],
  "full, recompute, moments on the host": ["hardware.recompute=true", "hardware.optimizerMemory=host"],
  "full, recompute, bf16 moments": ["hardware.recompute=true", "optimizer.moments=bf16"],
  LoRA: ["lora.rank=16"],
  "LoRA, recompute": ["lora.rank=16", "hardware.recompute=true"],
};

/** Sizes in GB of 10^9 bytes: every card that is sold by that number has a little more. */
export const CARDS = [24, 48, 80, 141] as const;
const GB = 1e9;

/** One model under one kind of training. */
export interface TableRow {
  readonly model: string;
  readonly way: string;
  /** Bytes without keys and values. */
  readonly needed: number;
  /** For each of CARDS the tokens of keys and values that fit in the remaining memory; 0: not even one longest answer. */
  readonly tokens: readonly number[];
}

/**
 * A recipe for planning a model alone: one GPU, full training, groups of 8 answers of up to 16,000 tokens to prompts
 * of up to 2,000, in micro-batches of one longest sequence.
 * @param model folder or Hub name
 */
export function recipeOfModel(model: string): Recipe {
  return defineRecipe({
    name: basename(model),
    hardware: { gpus: 1 },
    device: "cuda",
    model: { folder: model, weightStorage: "bf16" },
    domains: { math: { weight: 1, source: "procedural/math" } },
    rollouts: { groupSize: 8, maxOutputTokens: 16_000, maxPromptTokens: 2000 },
    lengthPenalty: { bufferTokens: 2000 },
    training: { steps: 1, groupsPerStep: 16, packedTokens: 18_000 },
    engine: { maxRunning: 64, stepTokens: 1024, pages: 1126 },
  });
}

/** Published models that fit on cards, and memory left for keys and values. */
export function planTable(): TableRow[] {
  return MODELS.flatMap((model) => Object.entries(WAYS).map(([way, settings]) => row(model, way, settings)));
}

function row(model: string, way: string, settings: readonly string[]): TableRow {
  const recipe = overrideRecipe(recipeOfModel(model), settings);
  const config = JSON.stringify(PUBLISHED_CONFIGS[model]);
  const planned = CARDS.map((card) => measureMemory(recipe, config, { memory: 0, threads: 1 }, card * GB));
  const tokens = planned.map(({ roles }) => {
    const { fit = 0 } = roles[0]!.keyValueTokens;
    return fit < maxContext(recipe) ? 0 : fit;
  });
  const { total, rows } = planned[0]!.roles[0]!;
  const keyValues = rows.find(({ name }) => name === KEY_VALUES)!.bytes;
  return { model, way, needed: total - keyValues, tokens };
}
