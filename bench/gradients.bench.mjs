// Measures what the gradients of domains cost: steps in the shape of the quick start's (256 sequences in 32 groups of
// five domains, micro-batches of 1024 tokens, its network); before every second step `metrics.gradients` measures ten
// parts. The floor is one more forward and backward of the same batch, measured in the same steps. --smoke: a few
// steps, whose numbers mean nothing.
import { Trainer } from "../dist/lib/native/index.js";
import { newModelConfig } from "../dist/lib/orchestration/index.js";
import { CounterRandom } from "../dist/lib/random.js";

const rounds = process.argv.includes("--smoke") ? 2 : 12;
const [VOCABULARY, SEQUENCES, GROUP, PARTS] = [400, 256, 8, 10];
const config = { width: 96, layers: 3, heads: 3, kvHeads: 3, headDim: 32, mlpWidth: 256, maxPositions: 128 };
const adamw = { kind: "adamw", beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, decayAll: false };
const trainer = new Trainer(newModelConfig(config, VOCABULARY), {
  optimizer: { ...adamw, muonMomentum: 0.95, gradientClip: 1 },
  packedTokens: 1024,
  weightStorage: "f32",
});
await trainer.initialize(1n);

const random = new CounterRandom(1);
const lengths = Array.from({ length: SEQUENCES }, () => random.int(45, 115));
const total = lengths.reduce((a, b) => a + b);
const cuSeqlens = new Int32Array(SEQUENCES + 1);
for (const [i, n] of lengths.entries()) cuSeqlens[i + 1] = cuSeqlens[i] + n;
const mask = new Uint8Array(total).fill(1);
for (const begin of cuSeqlens.subarray(0, SEQUENCES)) mask.fill(0, begin, begin + 30);
const batch = {
  tokens: Int32Array.from({ length: total }, () => random.int(0, VOCABULARY - 1)),
  cuSeqlens,
  mask,
  behaviorLogprobs: new Float32Array(total).fill(-6),
  advantages: Float32Array.from({ length: SEQUENCES }, () => 2 * random.next() - 1),
};
const options = {
  objective: "reinforce",
  sequenceWeight: "uniform",
  clipLow: 0.2,
  clipHigh: 0.2,
  klCoef: 0,
  entropyCoef: 0,
  temperature: 1,
  lr: 0,
  muonLr: 0,
};
const partOf = Int32Array.from({ length: SEQUENCES }, (_, i) => Math.floor(i / GROUP) % PARTS);

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const [floors, costs, ratios] = [[], [], []];
let passes = 0;
for (let i = 0; i < rounds + 1; i++) {
  const { seconds, microBatches } = await trainer.gradientParts(batch, options, partOf, PARTS);
  const step = await trainer.step(batch, options);
  passes = microBatches / step.microBatches;
  if (i === 0) continue; // warm
  const floor = step.forwardSeconds + step.backwardSeconds;
  floors.push(1000 * floor);
  costs.push(1000 * seconds);
  ratios.push(seconds / floor);
}
await trainer.close();
const rows = [
  { name: "floor: forward and backward of the batch once more, ms", value: median(floors) },
  { name: "gradients of ten parts and their products, ms", value: median(costs) },
  { name: "micro-batches of the parts, over those of the step", value: passes },
  { name: "gradients of ten parts, over the floor", value: median(ratios), ceiling: 1.25 },
];
process.stdout.write(`${JSON.stringify({ rows })}\n`);
