/**
 * The quick start: a model of 0.35 million parameters has learned reasoning in five domains from imperfect demonstrations.
 * Reinforcement learning from verifiable rewards makes its answers better and shorter, in half a minute on two cores.
 *
 *   npm run quickstart -- [--seed N] [--dir D] [--schedule sync|async] [--device cpu|cuda] [--smoke] [--resume]
 *                         [--from-scratch] [--processes N [--store redis://host:port]]
 */
import { cpSync, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import {
  defineRecipe,
  exitCodeOf,
  interruptSignal,
  overrideRecipe,
  processSettings,
  runMain,
  trainAndEvaluate,
} from "hone-rl";

/** Weights of the recipe's warm start with seed 0, written by `--warm-start`: next to this file, or next to its source. */
const [BESIDE, OF_DIST] = ["quickstart-start", "../../recipes/quickstart-start"].map((at) =>
  fileURLToPath(new URL(at, import.meta.url)),
) as [string, string];
const START = existsSync(BESIDE) ? BESIDE : OF_DIST;

const recipe = defineRecipe({
  name: "quickstart",
  model: { config: { width: 96, layers: 3, heads: 3, headDim: 32, mlpWidth: 256, maxPositions: 128 } },
  domains: {
    math: { weight: 0.4, source: "procedural/math" },
    code: { weight: 0.25, source: "procedural/code" },
    logic: { weight: 0.15, source: "procedural/logic" },
    "instruction-following": { weight: 0.1, source: "procedural/instruction-following" },
    "function-calling": { weight: 0.1, source: "procedural/function-calling" },
  },
  // Demonstrations are imperfect on purpose: 15 % have a wrong answer and 8 % do not end, so that reinforcement
  // learning has something to improve.
  warmStart: {
    steps: 900,
    mixture: { math: 0.3, code: 0.14, logic: 0.18, "instruction-following": 0.18, "function-calling": 0.2 },
    wrongRate: 0.15,
    endlessRate: 0.08,
    // The best learning rates that we tried for 900 steps; the default rates need 1400 steps for the same result.
    lr: 0.06,
    muonLr: 0.01,
    finalFraction: 0,
  },
  // Records the rollouts of the last 20 steps for `hone explain`: 2 MB.
  rollouts: { groupSize: 8, maxOutputTokens: 80, maxPromptTokens: 48, record: "last:20" },
  lengthPenalty: { kind: "dap", bufferTokens: 64 },
  // Not divided: among eight wrong answers a difference of two tokens would otherwise become an advantage of one.
  // Filtered by rewards with the length penalty, so that groups of right answers still teach brevity.
  advantages: { divideBy: "none", filter: "reward" },
  // With a constant learning rate the final score is 0.1 lower (bench/notes/quickstart.md).
  optimizer: { lr: 6e-4, warmupSteps: 5, gradientClip: 1, schedule: "cosine" },
  // A micro-batch of 1024 tokens fits in the cache, which makes training a sixth faster than 4096 tokens.
  training: { steps: 120, groupsPerStep: 32, maxLag: 1, packedTokens: 1024 },
  engine: { maxRunning: 256, stepTokens: 512 },
  checkpoint: { everySteps: 20 },
  evaluation: { problemsPerDomain: 96, attempts: 2 },
});

/** Settings for other models: a hybrid with as many weights as the dense model, a mixture with as many active weights. */
export const MODELS: Readonly<Record<string, readonly string[]>> = {
  dense: [],
  // A hybrid with a single layer of attention learns less: docs/tutorial/quickstart.md.
  hybrid: ["model.config.layers=4", "model.config.attentionEvery=2", "model.config.mlpWidth=128"],
  mixture: ['model.config.experts={"count":8,"chosen":2}', "model.config.mlpWidth=128"],
};

/** A run of a few seconds that only shows that every part works: the model learns almost nothing. */
const SMOKE = [
  "model.config.width=32",
  "model.config.layers=2",
  "model.config.heads=1",
  "model.config.mlpWidth=64",
  "warmStart.steps=30",
  "training.steps=6",
  "training.groupsPerStep=8",
  "evaluation.problemsPerDomain=8",
  "evaluation.attempts=1",
];

const USAGE = `npm run quickstart -- [options]
  --seed N            seed of everything random; default 0
  --dir D             run folder; default runs/quickstart
  --schedule S        async or sync; default async
  --device D          cpu or cuda
  --model M           dense, hybrid (gated DeltaNet) or mixture (of experts); the last two do the warm start too
  --processes N       actors in processes of their own; --store redis://host:port says where they meet
  --set path=value    another value of the recipe; as often as you like
  --smoke             a few seconds, to see that every part works
  --resume            go on with the run in the folder
  --from-scratch      do the warm start too, with this seed, instead of beginning with the weights it gave for seed 0
  --warm-start        do nothing but the warm start, and write its weights to recipes/quickstart-start
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "0" },
      dir: { type: "string", default: "runs/quickstart" },
      schedule: { type: "string", default: "async" },
      device: { type: "string" },
      model: { type: "string", default: "dense" },
      processes: { type: "string" },
      store: { type: "string" },
      set: { type: "string", multiple: true, default: [] },
      smoke: { type: "boolean", default: false },
      resume: { type: "boolean", default: false },
      "from-scratch": { type: "boolean", default: false },
      "warm-start": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const model = Object.hasOwn(MODELS, values.model) ? MODELS[values.model]! : undefined;
  if (model === undefined) {
    say(`--model is ${values.model}; it is one of ${Object.keys(MODELS).join(", ")}`);
    return 2;
  }
  const chosen = overrideRecipe(recipe, [
    `seed=${values.seed}`,
    `training.schedule=${values.schedule}`,
    ...(values.smoke ? SMOKE : []),
    ...model,
    ...(values["warm-start"] ? ["training.steps=0", "evaluation.problemsPerDomain=1"] : []),
    ...(values.device === undefined ? [] : [`device=${values.device}`]),
    ...(values.processes === undefined ? [] : await processSettings(values.processes, say)),
    ...values.set,
  ]);
  if (values.store !== undefined) process.env["HONE_STORE"] = values.store;
  const signal = interruptSignal(say);
  const isKnown = isDeepStrictEqual([chosen.model, chosen.warmStart], [recipe.model, recipe.warmStart]);
  const options = {
    dir: values.dir,
    signal,
    resume: values.resume ? "auto" : "never",
    overwrite: true,
    ...(isKnown && !values["from-scratch"] && !values["warm-start"] && { startFrom: START }),
  } as const;
  const { outcome } = await trainAndEvaluate(chosen, options);
  if (values["warm-start"] && outcome.reason !== "aborted") {
    for (const name of ["config.json", "model.safetensors"])
      cpSync(`${values.dir}/checkpoints/warm-start/${name}`, `${START}/${name}`);
  }
  return outcome.reason === "aborted" ? exitCodeOf(signal.reason) : 0;
}

export default recipe;
if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(main);
