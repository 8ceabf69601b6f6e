// Measures what learning from a teacher costs: steps in the shape of recipes/distillation.ts (256 answers, a model of
// 64 columns and two layers, a teacher of 96 columns and three layers) without a teacher and with each form of
// teaching, in turns. It counts processor time, on which other work on the machine has little effect. --smoke: a few
// steps, whose numbers mean nothing.
import { Trainer } from "../dist/lib/native/index.js";
import { newModelConfig } from "../dist/lib/orchestration/index.js";
import { CounterRandom } from "../dist/lib/random.js";

const times = process.argv.includes("--smoke") ? 2 : 25;
const [VOCABULARY, SEQUENCES, PROMPT, RESPONSE] = [226, 256, 30, 20];
const sizes = { headDim: 32, maxPositions: 128 };
const adamw = { kind: "adamw", beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, decayAll: false };
const options = {
  optimizer: { ...adamw, muonMomentum: 0.95, gradientClip: 1 },
  packedTokens: 1024,
  weightStorage: "f32",
};
const make = async (config, seed) => {
  const trainer = new Trainer(newModelConfig({ ...sizes, ...config }, VOCABULARY), options);
  await trainer.initialize(seed);
  return trainer;
};
const student = await make({ width: 64, layers: 2, heads: 2, kvHeads: 2, mlpWidth: 160 }, 1n);
const teacher = await make({ width: 96, layers: 3, heads: 3, kvHeads: 3, mlpWidth: 256 }, 2n);
await student.setTeacherHead(await teacher.teacherHead());

const random = new CounterRandom(1);
const length = PROMPT + RESPONSE;
const total = SEQUENCES * length;
const batch = {
  tokens: Int32Array.from({ length: total }, () => random.int(0, VOCABULARY - 1)),
  cuSeqlens: Int32Array.from({ length: SEQUENCES + 1 }, (_, i) => i * length),
  mask: Uint8Array.from({ length: total }, (_, t) => (t % length < PROMPT ? 0 : 1)),
  behaviorLogprobs: new Float32Array(total).fill(-5.4),
  advantages: new Float32Array(SEQUENCES).fill(0.1),
  tokenAdvantages: new Float32Array(total).fill(0.1),
};
const plain = {
  objective: "dapo",
  sequenceWeight: "uniform",
  clipLow: 0.2,
  clipHigh: 0.28,
  klCoef: 0,
  entropyCoef: 0,
  temperature: 1,
  lr: 0,
  muonLr: 0,
};
const whole = (beta, topK) => async () => {
  const { logprobs: _, ...distributions } = await teacher.teach(batch, 1, topK);
  await student.step({ ...batch, ...distributions }, { ...plain, divergence: { coef: 1, beta } });
};
const forms = {
  "no teacher": () => student.step(batch, plain),
  "sampled tokens": async () => {
    await teacher.score(batch, 1);
    await student.step(batch, plain);
  },
  "beta 0": whole(0, 0),
  "beta 0.5": whole(0.5, 0),
  "beta 1": whole(1, 0),
  "beta 0.5, topK 20": whole(0.5, 20),
};

const taken = Object.fromEntries(Object.keys(forms).map((name) => [name, []]));
for (let i = 0; i <= times; i++) {
  for (const [name, run] of Object.entries(forms)) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    if (i > 0) taken[name].push((user + system) / 1000); // the first turn is a warm-up and is not counted
  }
}
await Promise.all([student.close(), teacher.close()]);
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const step = median(taken["no teacher"]);
const rows = [
  { name: "a step without a teacher, ms of processor time", value: step },
  ...Object.entries(taken)
    .slice(1)
    .map(([name, all]) => ({ name: `${name}, times that`, value: median(all) / step })),
];
process.stdout.write(`${JSON.stringify({ rows })}\n`);
