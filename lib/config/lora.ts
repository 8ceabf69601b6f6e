import { z } from "zod";

/** Names as in a model's files; the core knows which of them a model has. */
const LORA_TARGETS = [
  "q_proj",
  "k_proj",
  "v_proj",
  "o_proj",
  "gate_proj",
  "up_proj",
  "down_proj",
  "qkv_proj",
  "gate_up_proj",
  "in_proj_qkv",
  "in_proj_z",
  "in_proj_b",
  "in_proj_a",
  "in_proj_qkvz",
  "in_proj_ba",
  "out_proj",
  "in_proj",
  "w1",
  "w2",
  "w3",
  "input_linear",
  "output_linear",
  "experts",
] as const;

/** Low-rank adapters: W + alpha/rank B A takes the place of W, and only A and B are trained. */
export const loraSchema = z.strictObject({
  /** Rank r; on a GPU a multiple of 8. */
  rank: z.int().positive().max(1024).default(16),
  alpha: z.number().min(1e-6).max(1e6).default(32),
  /** Matrices that get adapters, or all of every layer; "experts": the matrices of every expert. */
  targets: z.union([z.literal("all-linear"), z.array(z.enum(LORA_TARGETS)).min(1)]).default("all-linear"),
});

/** LoRA options for the core; empty for a recipe that trains all weights. */
export function loraOptions({
  lora,
  seed,
}: {
  readonly lora?: z.output<typeof loraSchema> | undefined;
  readonly seed: number;
}) {
  if (lora === undefined) return {};
  const { rank, alpha, targets } = lora;
  const names: readonly string[] = typeof targets === "string" ? [targets] : targets;
  return { lora: { rank, alpha, targets: names, seed: BigInt(seed) } };
}
