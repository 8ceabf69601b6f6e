// Tests every bound of the schema on the core: the core accepts what the schema accepts, and the schema names the field
// of what the core refuses.
import { describe, expect, test } from "vitest";
import { defineRecipe, type Recipe } from "../../lib/config/index.ts";
import { Engine, Generations, Trainer } from "../../lib/native/index.ts";
import { stepOptions } from "../../lib/orchestration/pipeline/index.ts";
import { rlOptimizer } from "../../lib/orchestration/setup/core.ts";
import { newModelConfig } from "../../lib/orchestration/setup/model.ts";
import { changed, issuesOf } from "../config/recipes.ts";
import { noAddon } from "./native-core.ts";

const TINY = {
  "model.config.width": 8,
  "model.config.layers": 1,
  "model.config.heads": 1,
  "model.config.mlpWidth": 8,
};

/** Samples one token and trains one step with the recipe's numbers. */
async function tryOut(recipe: Recipe): Promise<void> {
  const config = newModelConfig(recipe.model.config!, 16);
  const trainer = new Trainer(config, {
    optimizer: rlOptimizer(recipe),
    packedTokens: 64,
    weightStorage: "f32",
  });
  const options = { maxRunning: 1, pageTokens: 16, pages: 8, maxContext: 32, stepTokens: 16 } as const;
  const generations = new Generations(
    (handlers) => new Engine(config, { ...options, weightStorage: "f32", runSeed: 1n }, handlers),
  );
  try {
    await trainer.initialize(1n);
    await trainer.publish(generations.engine);
    const { temperature, topK, topP, minP } = recipe.rollouts;
    const prompt = Int32Array.of(1, 2);
    const one = { id: 1, prompt, count: 1, problem: 1, firstAttempt: 0, maxTokens: 1, stopIds: [] };
    await generations.generate({ ...one, sampling: { temperature, topK, topP, minP } });
    const cool = recipe.evaluation.settings[0]!;
    await generations.generate({
      ...one,
      id: 2,
      sampling: { temperature: cool.temperature, topP: cool.topP },
    });
    await trainer.step(
      {
        tokens: Int32Array.of(1, 2, 3),
        cuSeqlens: Int32Array.of(0, 3),
        mask: Uint8Array.of(0, 1, 1),
        behaviorLogprobs: new Float32Array(3).fill(-2.77),
        advantages: Float32Array.of(1),
        referenceLogprobs: new Float32Array(3).fill(-2.77),
      },
      stepOptions(recipe, recipe.optimizer.lr),
    );
  } finally {
    await generations.close();
    await trainer.close();
  }
}

const withField = (field: string, value: unknown) =>
  defineRecipe(changed({ ...TINY, ...above(field), [field]: value }) as never);
/** Other fields that must change together with an extreme value. */
const above = (field: string): object => {
  if (field === "objective.clipLow") return { "objective.clipHigh": 1e38 };
  return field.startsWith("objective.correction.")
    ? { "objective.correction": { kind: "tis", high: 2 } }
    : {};
};

/** A field, the smallest and largest accepted value, and values that the core would refuse or round to another. */
const BOUNDS: readonly (readonly [string, readonly number[], readonly number[]])[] = [
  ["optimizer.lr", [1e-37, 1e38], [0, 1e-300, 1e300]],
  ["optimizer.beta1", [0, 0.9999999], [-0.1, 1, 0.99999999999]],
  ["optimizer.beta2", [0, 0.9999999], [1]],
  ["optimizer.eps", [1e-37, 1e38], [0, 1e-300, 1e39]],
  ["optimizer.weightDecay", [0, 1e38], [-1, 1e39, 1e-300]],
  ["optimizer.gradientClip", [0, 1e-37, 1e38], [-1, 1e39, 1e-300]],
  ["rollouts.temperature", [1e-3, 1e3], [0, 1e-4, 10_000]],
  ["rollouts.topK", [0, 2 ** 31 - 1], [-1, 2 ** 31]],
  ["rollouts.topP", [1e-37, 1], [0, 1e-300, 1.1]],
  ["rollouts.minP", [0, 0.9999999], [1, 0.99999999999]],
  ["objective.clipLow", [1e-37, 0.5], [0, 1e-300]],
  ["objective.clipHigh", [1e38], [1e39]],
  ["objective.correction.low", [0, 1e-37, 1], [-1, 1e-300]],
  ["objective.correction.high", [1, 1e38], [0, 1e-300, 1e39]],
  ["objective.klCoef", [0, 1e-37], [-1, 1e-300, 1e39]],
  ["objective.entropyCoef", [0, 1e-37], [-1, 1e39]],
  ["model.config.normEps", [1e-37, 1], [0, 1e-300, 1e300]],
  ["model.config.ropeTheta", [1.0001, 1e30], [1, 0, 1e300]],
];

describe("numbers", () => {
  test.each(BOUNDS)("%s from %j, not %j", (field, _, refused) => {
    for (const value of refused)
      expect(
        issuesOf(changed({ ...TINY, ...above(field), [field]: value })).map(({ path }) => path),
      ).toContain(field);
  });

  test.skipIf(noAddon !== undefined).each(BOUNDS)("the core takes %s at %j", async (field, taken) => {
    for (const value of taken) await tryOut(withField(field, value));
  });
});

test.each([
  [
    "evaluation temperature",
    { "evaluation.settings": [{ temperature: 1e-7 }] },
    "evaluation.settings.0.temperature",
  ],
  ["an odd head size", { "model.config.headDim": 31 }, "model.config.headDim"],
  [
    "more weights than can be counted",
    { "model.config.width": 2 ** 24, "model.config.layers": 2 ** 13, "model.config.mlpWidth": 2 ** 24 },
    "model.config",
  ],
  ["a layer count no file has", { "model.config.layers": 2 ** 13 + 1 }, "model.config.layers"],
  ["200 verifier threads", { "verification.workers": 200 }, "verification.workers"],
  ["a time-out no timer takes", { "verification.timeoutMs": 2 ** 31 }, "verification.timeoutMs"],
  ["a stall that no timer waits for", { "training.stallSeconds": 1e9 }, "training.stallSeconds"],
  [
    "pages beyond the cache",
    { "engine.maxRunning": 65_536, "rollouts.maxOutputTokens": 2 ** 20 },
    "engine.pages",
  ],
  ["a page of other than 16", { "engine.pageTokens": 24 }, "engine.pageTokens"],
  ["a step of too many tokens", { "rollouts.maxOutputTokens": 2 ** 25 }, "training.groupsPerStep"],
  ["a name that leaves runs/", { name: "../../x" }, "name"],
  ["a name that is a folder above", { name: ".." }, "name"],
  ["a sink twice", { sinks: ["jsonl", "jsonl"] }, "sinks"],
  [
    "65 domains",
    {
      domains: Object.fromEntries(
        Array.from({ length: 65 }, (_, i) => [`d${i}`, { weight: 1, source: "x" }]),
      ),
    },
    "domains",
  ],
])("%s has a path", (_, changes, path) => {
  expect(issuesOf(changed(changes)).map((issue) => issue.path)).toContain(path);
});
