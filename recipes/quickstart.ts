/**
 * The quick start: a 0.35-million-parameter model that learned to think in five domains from imperfect demonstrations
 * gets better and shorter by reinforcement learning from verifiable rewards; half a minute on two cores.
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

/** Weights that `--warm-start` wrote, those of the recipe's warm start with seed 0: beside this file, or its source. */
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
  // Demonstrations are imperfect on purpose: 15 % answer wrong, 8 % never stop. The skill comes from them, the
  // behaviour from reinforcement learning.
  warmStart: {
    steps: 900,
    mixture: { math: 0.3, code: 0.14, logic: 0.18, "instruction-following": 0.18, "function-calling": 0.2 },
    wrongRate: 0.15,
    endlessRate: 0.08,
    // Of the rates tried, those that learn most from 900 steps; with the defaults it takes 1400.
    lr: 0.06,
    muonLr: 0.01,
    finalFraction: 0,
  },
  // Of the last 20 steps what they trained on, for `hone explain`: 2 MB.
  rollouts: { groupSize: 8, maxOutputTokens: 80, maxPromptTokens: 48, record: "last:20" },
  lengthPenalty: { kind: "dap", bufferTokens: 64 },
  // With answers this short, dividing by the standard deviation would turn two tokens among eight wrong answers
  // into advantages of one; and all-right groups should still teach to be short.
  advantages: { divideBy: "none", filter: "reward" },
  // Held constant, this rate ends 0.1 lower (bench/notes/quickstart.md).
  optimizer: { lr: 6e-4, warmupSteps: 5, gradientClip: 1, schedule: "cosine" },
  // A micro-batch of 1024 tokens stays in the cache: a sixth faster than one of 4096.
  training: { steps: 120, groupsPerStep: 32, maxLag: 1, packedTokens: 1024 },
  engine: { maxRunning: 256, stepTokens: 512 },
  checkpoint: { everySteps: 20 },
  evaluation: { problemsPerDomain: 96, attempts: 2 },
});

/** Instead of the dense model: as many weights in a hybrid, and in a mixture those that a token is multiplied by. */
export const MODELS: Readonly<Record<string, readonly string[]>> = {
  dense: [],
  // With one layer of attention alone it learns less: docs/tutorial/quickstart.md.
  hybrid: ["model.config.layers=4", "model.config.attentionEvery=2", "model.config.mlpWidth=128"],
  mixture: ['model.config.experts={"count":8,"chosen":2}', "model.config.mlpWidth=128"],
};

/** The same thing in a few seconds, to see that every part works. It learns next to nothing. */
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
