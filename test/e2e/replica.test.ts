import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../lib/config/index.ts";
import type { Environment } from "../../lib/domains/index.ts";
import { createRun } from "../../lib/orchestration/index.ts";
import { teacherFolder } from "../fixtures/teacher-folder.ts";
import { longest } from "../long.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { patient } from "../patience.ts";
import { noAddon } from "./native-core.ts";
import { tinyInput, twoRewards } from "./tiny-recipe.ts";

// Mutants of the core that must fail here: a sequence weight without 1/N, AdamW without bias correction, the head's
// gradient at temperature 1. The replica computes each of these independently.

const REPLICA = fileURLToPath(new URL("../../scripts/replica.py", import.meta.url));
/** A Python with PyTorch: HONE_PYTHON, or python3 of the PATH. */
const python = process.env["HONE_PYTHON"] ?? "python3";
const noTorch = spawnSync(python, ["-c", "import torch"]).status !== 0 ? `${python} has no torch` : undefined;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-replica-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Records a run with samples up to three versions old, so that ratios leave 1 and some are clipped. */
async function record(rest: Partial<RecipeInput>): Promise<void> {
  const input = tinyInput({ steps: 6, groupsPerStep: 3, schedule: "async", maxLag: 3, ...rest.training });
  const recipe = defineRecipe({
    ...input,
    ...rest,
    training: input.training,
    rollouts: { ...input.rollouts, ...rest.rollouts, record: true },
    checkpoint: { everySteps: 1, keepLast: 10 },
  });
  const ownRewards = Object.values(rest.domains ?? {}).some(({ rewards }) => rewards !== undefined);
  await using run = await createRun(recipe, { dir, ...(!ownRewards && { verifiers }) });
  await run.finished;
}

function replica(): Record<string, number>[] {
  const { stdout, stderr, status } = spawnSync(python, [REPLICA, dir, "--json"], { encoding: "utf8" });
  expect(stderr).toBe("");
  const steps = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, number>);
  expect(status, stdout).toBe(0);
  return steps;
}

/** Replies to each message until the sum of its characters is a multiple of five; scores at random. */
const talking: Environment<{ sum: number }> = {
  reset: () => ({ sum: 0 }),
  step: (state, { text }) => {
    for (const character of text) state.sum += character.charCodeAt(0);
    return state.sum % 5 === 0 ? { done: true } : { observation: ` ok ${state.sum}: <eos> ` };
  },
  score: ({ sum }) => (sum % 2 === 0 ? 1 : 0),
};
const episodes: Partial<RecipeInput> = {
  domains: {
    math: { weight: 0.3, source: "procedural/math" },
    logic: {
      weight: 0.7,
      source: "procedural/logic",
      environment: talking,
      episode: { maxTurns: 4, maxTurnTokens: 6 },
    },
  },
  warmStart: { steps: 8, batchSize: 16, mixture: { math: 1 }, warmupSteps: 2 },
};

const clip = { clipLow: 0.05, clipHigh: 0.05 };
/** The teachers' models, which are written before the first test. */
const teachers = mkdtempSync(join(tmpdir(), "hone-replica-teacher-"));
/** Settings with a teacher in both reward and loss, over whole distributions. */
const whole = (divergence: object) => ({ ...taught, divergence });
const taught = { folder: join(teachers, "teacher"), coef: 0.5, rewardCoef: 1 };
beforeAll(async () => {
  if (noAddon === undefined && noTorch === undefined) await teacherFolder(taught.folder);
});
afterAll(() => rmSync(teachers, { recursive: true, force: true }));

const CASES: readonly (readonly [string, Partial<RecipeInput>])[] = [
  ["gspo", { objective: { kind: "gspo" } }],
  [
    "groups of a replay buffer, importance sampling, two updates a batch",
    {
      objective: { kind: "dapo", ...clip, correction: { kind: "tis", high: 1.05 } },
      advantages: { divideBy: "batch-std", filter: "reward" },
      training: { steps: 6, updatesPerBatch: 2, replayBuffer: { share: 0.5, maxAge: 3 } },
    },
  ],
  [
    "gspo-token, a teacher beside the reward, two updates a batch",
    {
      objective: { kind: "gspo-token", clipLow: 1e-3, clipHigh: 1e-3 },
      teacher: taught,
      training: { steps: 6, updatesPerBatch: 2 },
    },
  ],
  [
    "gmpo by length, two updates a batch",
    {
      objective: { kind: "gmpo", sequenceWeight: "length", clipLow: 0.02, clipHigh: 0.02 },
      training: { steps: 6, updatesPerBatch: 2 },
    },
  ],
  [
    "gmpo, truncated importance sampling, two epochs",
    {
      objective: { kind: "gmpo", clipLow: 0.01, clipHigh: 0.01, correction: { kind: "tis", high: 1.05 } },
      training: { steps: 6, epochs: 2 },
    },
  ],
  [
    "sapo, two updates a batch",
    {
      objective: { kind: "sapo", gate: { positive: 2, negative: 4 } },
      training: { steps: 6, updatesPerBatch: 2 },
    },
  ],
  ["adapters", { lora: { rank: 4, alpha: 8 }, optimizer: { lr: 1e-2, weightDecay: 0.1 } }],
  [
    "adapters of two matrices, with a KL term",
    {
      lora: { rank: 2, alpha: 3, targets: ["q_proj", "down_proj"] },
      objective: { kind: "grpo", klCoef: 0.05 },
    },
  ],
  ["episodes, gspo by length", { ...episodes, objective: { kind: "gspo", sequenceWeight: "length" } }],
  [
    "episodes, dapo with a KL and an entropy term",
    { ...episodes, objective: { kind: "dapo", klCoef: 0.05, entropyCoef: 0.01 } },
  ],
  [
    "grpo, normalised over the batch, two updates of it",
    {
      objective: { kind: "grpo", ...clip },
      advantages: { divideBy: "batch-std", filter: "reward" },
      training: { steps: 6, updatesPerBatch: 2 },
    },
  ],
  [
    "gspo, over the batch's mean by each domain's deviation",
    { objective: { kind: "gspo" }, advantages: { baseline: "batch-mean", divideBy: "domain-std" } },
  ],
  [
    "grpo, rewards normalised one by one, then over the batch",
    {
      objective: { kind: "grpo", ...clip },
      advantages: { combine: "advantages", divideBy: "batch-std" },
      domains: twoRewards,
    },
  ],
  [
    "dapo, a teacher beside the reward, two updates a batch",
    { objective: { kind: "dapo", ...clip }, teacher: taught, training: { steps: 6, updatesPerBatch: 2 } },
  ],
  [
    "grpo, the best of three of six",
    {
      objective: { kind: "grpo", ...clip },
      rollouts: { groupSize: 6, maxOutputTokens: 80, maxPromptTokens: 48 },
      advantages: { passAt: 3, filter: "reward" },
    },
  ],
  ["cispo, a teacher alone", { objective: { kind: "cispo", ...clip }, teacher: { folder: taught.folder } }],
  [
    "gspo, forward KL to a teacher beside the reward",
    { objective: { kind: "gspo" }, teacher: whole({ beta: 0 }) },
  ],
  [
    "dapo, half-way to a teacher, two updates",
    { objective: { kind: "dapo", ...clip }, teacher: whole({}), training: { steps: 6, updatesPerBatch: 2 } },
  ],
  [
    "cispo, reverse KL to a teacher's likeliest",
    { objective: { kind: "cispo", ...clip }, teacher: whole({ beta: 1, topK: 9 }) },
  ],
  [
    "dapo with a dual clip, two updates a batch",
    {
      objective: { kind: "dapo", ...clip, dualClip: 1.01 },
      training: { steps: 6, updatesPerBatch: 2 },
    },
  ],
  [
    "gspo with an off-policy mask and an unbiased KL, two updates a batch",
    {
      objective: {
        kind: "gspo",
        clipLow: 0.1,
        clipHigh: 0.1,
        offPolicyMask: 1e-4,
        klCoef: 0.05,
        klEstimator: "unbiased",
      },
      training: { steps: 6, updatesPerBatch: 2 },
    },
  ],
  ["cispo clipped from above alone", { objective: { kind: "cispo", clipLow: 1, clipHigh: 0.05 } }],
  [
    "cispo with a KL and an entropy term",
    { objective: { kind: "cispo", ...clip, klCoef: 0.05, entropyCoef: 0.01 } },
  ],
  [
    "gspo by length, decay",
    { objective: { kind: "gspo", sequenceWeight: "length" }, optimizer: { lr: 1e-3, weightDecay: 0.1 } },
  ],
  [
    "grpo, leave-one-out",
    {
      objective: { kind: "grpo", ...clip },
      advantages: { baseline: "leave-one-out", divideBy: "sample-std", filter: "reward" },
    },
  ],
  [
    "dapo at temperature 1.3",
    {
      objective: { kind: "dapo", ...clip },
      rollouts: { maxOutputTokens: 80, maxPromptTokens: 48, temperature: 1.3 },
    },
  ],
  [
    "dr-grpo",
    { objective: { kind: "dr-grpo", ...clip }, advantages: { divideBy: "none", filter: "reward" } },
  ],
  [
    "ppo-clip without a clip of the gradient",
    { objective: { kind: "ppo-clip", ...clip }, optimizer: { lr: 1e-3, gradientClip: 0 } },
  ],
  [
    "grpo, icepop with a KL term",
    { objective: { kind: "grpo", klCoef: 0.05, correction: { kind: "icepop", low: 0.9, high: 1.1 } } },
  ],
  [
    "gspo, truncated importance sampling",
    { objective: { kind: "gspo", correction: { kind: "tis", high: 1.05 } } },
  ],
  [
    "dapo, masked where probabilities part, two epochs",
    {
      objective: { kind: "dapo", ...clip, correction: { kind: "dppo-tv", low: 0.005, high: 0.01 } },
      training: { steps: 6, epochs: 2 },
    },
  ],
  [
    "grpo, masked by a binary KL",
    { objective: { kind: "grpo", correction: { kind: "dppo-kl", high: 1e-4 } } },
  ],
  [
    "dapo, tokens of high entropy alone, two updates",
    {
      objective: { kind: "dapo", ...clip, tokens: { kind: "high-entropy" } },
      training: { steps: 6, updatesPerBatch: 2 },
    },
  ],
  ["gspo, tokens of high entropy alone", { objective: { kind: "gspo", tokens: { kind: "high-entropy" } } }],
  [
    "grpo, clip-cov with a correction",
    {
      objective: {
        kind: "grpo",
        tokens: { kind: "clip-cov", fraction: 0.05, low: 0.1, high: 2 },
        correction: { kind: "tis", high: 1.05 },
      },
    },
  ],
  [
    "gspo, kl-cov, three updates",
    {
      objective: { kind: "gspo", clipLow: 1e-3, clipHigh: 1e-3, tokens: { kind: "kl-cov", fraction: 0.05 } },
      training: { steps: 6, updatesPerBatch: 3 },
    },
  ],
  [
    "gspo, towards a target of the entropy",
    { objective: { kind: "gspo", entropyCoef: 0.02, entropyControl: { target: 2, delta: 0.01 } } },
  ],
  ["dapo with k1", { objective: { kind: "dapo", ...clip, klCoef: 0.05, klEstimator: "k1" } }],
  [
    "dapo with the whole KL, two updates a batch",
    {
      objective: { kind: "dapo", ...clip, klCoef: 0.5, klEstimator: "full" },
      training: { steps: 6, updatesPerBatch: 2 },
    },
  ],
  [
    "gspo by length, KL of the likeliest and the rest",
    { objective: { kind: "gspo", sequenceWeight: "length", klCoef: 0.5, klEstimator: "full", klTopK: 9 } },
  ],
  ["gspo with k2", { objective: { kind: "gspo", klCoef: 0.05, klEstimator: "k2" } }],
  [
    "dapo, whole sequences masked",
    { objective: { kind: "dapo", correction: { kind: "sequence-mask", low: 0.5, high: 1.5 } } },
  ],
  [
    "reinforce, sequences masked by the mean",
    { objective: { kind: "reinforce", correction: { kind: "geometric-mask", low: 0.99, high: 1.01 } } },
  ],
  [
    "gspo by length, three updates a batch",
    {
      objective: { kind: "gspo", sequenceWeight: "length", clipLow: 1e-3, clipHigh: 1e-3 },
      training: { steps: 6, updatesPerBatch: 3 },
    },
  ],
  [
    "gspo, truncated importance sampling, two epochs of two updates",
    {
      objective: { kind: "gspo", clipLow: 1e-3, clipHigh: 1e-3, correction: { kind: "tis", high: 1.05 } },
      training: { steps: 6, updatesPerBatch: 2, epochs: 2 },
    },
  ],
  [
    "dapo, icepop with a KL term, two epochs",
    {
      objective: { kind: "dapo", ...clip, klCoef: 0.05, correction: { kind: "icepop", low: 0.9, high: 1.1 } },
      training: { steps: 6, epochs: 2 },
    },
  ],
  [
    "dr-grpo, sequences truncated",
    { objective: { kind: "dr-grpo", correction: { kind: "sequence-tis", high: 1.2 } } },
  ],
  [
    "gspo, cut answers masked, a table of one's own",
    {
      objective: { kind: "gspo", ...clip },
      advantages: { overlong: "mask", filter: "reward" },
      reward: {
        table: {
          finished: { correct: 1, wrong: -0.5, no_answer: -1, unparsable: -1 },
          truncated: { correct: 0.5, wrong: -1, no_answer: -1, unparsable: -1, partial: 0.25 },
        },
      },
    },
  ],
  [
    "grpo, cut answers masked, success_and_format",
    {
      objective: { kind: "grpo", ...clip },
      advantages: { overlong: "mask", filter: "reward", divideBy: "none" },
      reward: { table: "success_and_format" },
    },
  ],
  ["reinforce-clamped", { objective: { kind: "reinforce-clamped", ...clip } }],
  [
    "reinforce, truncated and on policy",
    {
      objective: { kind: "reinforce" },
      training: { steps: 5, groupsPerStep: 4, schedule: "sync" },
      rollouts: {
        maxOutputTokens: 80,
        maxPromptTokens: 48,
        topP: 0.8,
        topK: 30,
        minP: 0.02,
        temperature: 0.9,
      },
    },
  ],
];

test.skipIf(noAddon !== undefined || noTorch !== undefined).each(CASES.slice(0, longest ? CASES.length : 6))(
  "recorded steps are those of a float64 replica: %s",
  async (_, rest) => {
    await record(rest);
    const steps = replica();
    expect(steps.length).toBeGreaterThanOrEqual(4);
    const recorded = readFileSync(join(dir, "rollouts", "step-000005.jsonl"), "utf8");
    expect(recorded.includes('"given":[')).toBe(
      rest.domains !== undefined && rest.domains === episodes.domains,
    );
  },
  patient(300_000),
);

test.runIf(noTorch !== undefined)(`skipped: ${noTorch}`, () => {});
