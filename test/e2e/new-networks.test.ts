// Tests runs of networks other than plain decoders, with fresh weights: sampling and training agree to the bit, and an
// asynchronous run replays.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import { createRun, replayRun } from "../../lib/orchestration/index.ts";
import type { StepRecord } from "../../lib/records.ts";
import { tinyConfig, tinyModel } from "../fixtures/model-folder.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { noAddon } from "./native-core.ts";

const root = mkdtempSync(join(tmpdir(), "hone-networks-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const MIXTURE = {
  model_type: "qwen3_moe",
  num_experts: 6,
  num_experts_per_tok: 2,
  moe_intermediate_size: 24,
  norm_topk_prob: true,
  decoder_sparse_step: 1,
  mlp_only_layers: [],
};

const MAMBA = {
  model_type: "granitemoehybrid",
  num_hidden_layers: 4,
  head_dim: 16,
  layer_types: ["mamba", "attention", "mamba", "mamba"],
  mamba_n_heads: 8,
  mamba_d_head: 8,
  mamba_d_state: 12,
  shared_intermediate_size: 48,
  num_local_experts: 0,
};

const BESIDE = {
  model_type: "falcon_h1",
  num_hidden_layers: 3,
  head_dim: 16,
  mamba_d_ssm: 48,
  mamba_n_heads: 6,
  mamba_d_head: 8,
  mamba_d_state: 12,
  mamba_n_groups: 2,
  attention_in_multiplier: 1.5,
  attention_out_multiplier: 0.75,
  key_multiplier: 0.5,
  ssm_out_multiplier: 0.5,
  ssm_multipliers: [0.5, 1, 1.5, 0.75, 2],
  mlp_multipliers: [0.75, 0.5],
};

const HALVES = {
  model_type: "nemotron_h",
  head_dim: 16,
  mamba_num_heads: 6,
  mamba_head_dim: 8,
  n_groups: 2,
  ssm_state_size: 12,
  hybrid_override_pattern: "M-*M-",
};

const PARALLEL = { model_type: "cohere2", num_hidden_layers: 4, head_dim: 16, sliding_window: 24 };

const DAPO = { kind: "dapo", clipLow: 0.2, clipHigh: 0.28 } as const;
const ROUTER = { balanceCoef: 0.01, zCoef: 0.001 };

const NETWORKS: readonly (readonly [string, Record<string, unknown>, Partial<RecipeInput>])[] = [
  [
    "gated DeltaNet",
    {
      model_type: "qwen3_5_text",
      num_hidden_layers: 4,
      head_dim: 16,
      partial_rotary_factor: 0.25,
      linear_num_key_heads: 2,
      linear_num_value_heads: 4,
      linear_key_head_dim: 8,
      linear_value_head_dim: 8,
      linear_conv_kernel_dim: 4,
    },
    {},
  ],
  [
    "short convolutions",
    {
      model_type: "lfm2",
      num_hidden_layers: 4,
      head_dim: 16,
      full_attn_idxs: [1, 2],
      block_auto_adjust_ff_dim: false,
    },
    {},
  ],
  ["Mamba-2", MAMBA, {}],
  [
    "Mamba-2 and experts, with adapters",
    { ...MAMBA, num_local_experts: 6, num_experts_per_tok: 2, intermediate_size: 24 },
    { lora: { rank: 4, alpha: 8, targets: ["in_proj", "out_proj", "experts"] } },
  ],
  ["Mamba-2 beside attention", BESIDE, {}],
  ["Mamba-2 beside attention, with adapters", BESIDE, { lora: { rank: 4, alpha: 8 } }],
  ["one half a layer", HALVES, {}],
  [
    "one half a layer and experts, with adapters",
    {
      ...HALVES,
      hybrid_override_pattern: "ME*ME",
      n_routed_experts: 6,
      num_experts_per_tok: 2,
      moe_intermediate_size: 24,
      moe_shared_expert_intermediate_size: 16,
    },
    { lora: { rank: 4, alpha: 8, targets: ["in_proj", "q_proj", "experts"] } },
  ],
  ["attention and MLP in parallel", PARALLEL, {}],
  ["attention and MLP in parallel, with adapters", PARALLEL, { lora: { rank: 4, alpha: 8 } }],
  [
    "heads of two sizes",
    {
      model_type: "gemma4_text",
      num_hidden_layers: 6,
      head_dim: 16,
      global_head_dim: 32,
      num_global_key_value_heads: 1,
      attention_k_eq_v: true,
      sliding_window: 24,
      hidden_size_per_layer_input: 0,
      hidden_activation: "gelu_pytorch_tanh",
    },
    {},
  ],
  ["a mixture of experts", MIXTURE, {}],
  ["a mixture whose routers have terms in the loss", MIXTURE, { objective: { ...DAPO, router: ROUTER } }],
  [
    "a mixture of experts with adapters",
    MIXTURE,
    { lora: { rank: 4, alpha: 8, targets: ["q_proj", "experts"] } },
  ],
];

describe.skipIf(noAddon !== undefined)("a run of", () => {
  test.each(NETWORKS)("%s", async (name, fields, more) => {
    const folder = await tinyModel(join(root, name), tinyConfig(fields));
    const dir = join(root, `${name}-run`);
    const recipe = defineRecipe({
      name: "networks",
      model: { folder },
      domains: { math: { source: "procedural/math" }, logic: { source: "procedural/logic" } },
      rollouts: { groupSize: 4, maxOutputTokens: 40, maxPromptTokens: 96 },
      // a random model answers everything wrong, so that only lengths differ
      lengthPenalty: { kind: "lp", bufferTokens: 39 },
      advantages: { filter: "reward" },
      objective: DAPO,
      optimizer: { lr: 1e-2, warmupSteps: 0 },
      training: { steps: 5, groupsPerStep: 4, maxLag: 2 },
      engine: { maxRunning: 12, pages: 60 }, // too small for all at once, so some sequences are preempted
      evaluation: { problemsPerDomain: 2, attempts: 1 },
      sinks: ["jsonl"],
      ...more,
    });
    await using run = await createRun(recipe, { dir, verifiers });
    await run.finished;
    const steps = readFileSync(join(dir, "steps.jsonl"), "utf8").trim().split("\n");
    const metrics = steps.map((line) => (JSON.parse(line) as StepRecord).metrics);
    expect(metrics.some((step) => step["grad/norm"]! > 0)).toBe(true);
    for (const step of metrics) expect(step["mismatch/kernel/max"] ?? 0).toBe(0);
    const trained = metrics.find((step) => step["grad/norm"]! > 0)!;
    expect((trained["experts/load/max"] ?? 0) >= 1).toBe(
      Boolean(fields["num_experts"] ?? fields["num_local_experts"] ?? fields["n_routed_experts"]),
    );
    // balancing loss: k 0.01 for even loads, more for uneven ones; z loss: ln² of six experts times about 0.001
    const terms = trained["loss/total"]! - trained["loss/policy"]!;
    if (more.objective?.router === undefined) expect(terms).toBe(0);
    else expect(terms).toBeGreaterThan(0.02);
    expect(await replayRun(dir, { verifiers })).toMatchObject({ steps: 5, weightsCompared: true });
  });
});
