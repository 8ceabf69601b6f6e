// Measures what a custom objective costs: steps in the shape of the quick start's (256 sequences, micro-batches of 1024
// tokens, its network) with the built-in GSPO and with GSPO as a JavaScript function, in turns. A step of the quick
// start itself takes longer than these, because it generates at the same time. --smoke: a few steps, whose numbers mean
// nothing.
import { Trainer } from "../dist/lib/native/index.js";
import { newModelConfig } from "../dist/lib/orchestration/index.js";
import { CounterRandom } from "../dist/lib/random.js";
import { askSlopes } from "../dist/lib/shared/objectives/slopes-function.js";

const steps = process.argv.includes("--smoke") ? 2 : 12;
const [VOCABULARY, SEQUENCES, PROMPT, RESPONSE] = [400, 256, 30, 50];
const config = { width: 96, layers: 3, heads: 3, kvHeads: 3, headDim: 32, mlpWidth: 256, maxPositions: 128 };
const adamw = { kind: "adamw", beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, decayAll: false };
const trainer = new Trainer(newModelConfig(config, VOCABULARY), {
  optimizer: { ...adamw, muonMomentum: 0.95, gradientClip: 1 },
  packedTokens: 1024,
  weightStorage: "f32",
});
await trainer.initialize(1n);

const random = new CounterRandom(1);
const length = PROMPT + RESPONSE;
const total = SEQUENCES * length;
const batch = {
  tokens: Int32Array.from({ length: total }, () => random.int(0, VOCABULARY - 1)),
  cuSeqlens: Int32Array.from({ length: SEQUENCES + 1 }, (_, i) => i * length),
  mask: Uint8Array.from({ length: total }, (_, t) => (t % length < PROMPT ? 0 : 1)),
  behaviorLogprobs: new Float32Array(total).fill(-6),
  advantages: Float32Array.from({ length: SEQUENCES }, () => 2 * random.next() - 1),
};
const builtIn = {
  objective: "gspo",
  sequenceWeight: "uniform",
  clipLow: 0.2,
  clipHigh: 0.2,
  klCoef: 0,
  entropyCoef: 0,
  temperature: 1,
  lr: 0,
  muonLr: 0,
};

function gspo({ logprobs, behaviorLogprobs, advantages, sequences, totalSequences, clipLow, clipHigh, out }) {
  const losses = new Float64Array(advantages.length);
  for (let i = 0; i < losses.length; i++) {
    const [begin, end, advantage] = [sequences[i], sequences[i + 1], advantages[i]];
    let sum = 0;
    for (let t = begin; t < end; t++) sum += logprobs[t] - behaviorLogprobs[t];
    const ratio = Math.exp(sum / (end - begin));
    const clipped = (advantage > 0 && ratio > 1 + clipHigh) || (advantage < 0 && ratio < 1 - clipLow);
    const bounded = Math.min(Math.max(ratio, 1 - clipLow), 1 + clipHigh);
    losses[i] = (-(clipped ? bounded : ratio) * advantage) / totalSequences;
    out.fill(clipped ? 0 : (-(ratio / (end - begin)) * advantage) / totalSequences, begin, end);
  }
  return losses;
}
const custom = { ...builtIn, objective: "custom", slopes: (request) => askSlopes(gspo, request, builtIn) };

async function timed(options) {
  const start = performance.now();
  await trainer.step(batch, options);
  return performance.now() - start;
}
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const [built, own, differences] = [[], [], []];
for (let i = 0; i < 2 * steps; i++) {
  const first = i % 2 === 0 ? builtIn : custom;
  const times = [await timed(first), await timed(first === custom ? builtIn : custom)];
  const [plain, asked] = first === custom ? times.reverse() : times;
  if (i < 2) continue; // warm
  built.push(plain);
  own.push(asked);
  differences.push(asked - plain);
}
await trainer.close();
const step = median(built);
const rows = [
  { name: "a step with GSPO built in, ms", value: step },
  { name: "the same with GSPO as a function, ms", value: median(own) },
  { name: "what the function adds, share of a step", value: median(differences) / step, ceiling: 0.03 },
];
process.stdout.write(`${JSON.stringify({ rows })}\n`);
