// Measures how long training waits for a checkpoint: until the folder is written (`save`, as with `checkpoint.async:
// false`), until the state is copied for the first time into untouched memory, and until it is copied again (`stage`).
// The three take turns, with a new trainer in each round. There are two models: the quick start's, and one of 30
// million weights. --smoke: the small one, twice.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Trainer } from "../dist/lib/native/index.js";
import { newModelConfig } from "../dist/lib/orchestration/index.js";

const smoke = process.argv.includes("--smoke");
const MODELS = [
  {
    name: "quick start's model",
    vocabulary: 400,
    config: { width: 96, layers: 3, heads: 3, kvHeads: 3, headDim: 32, mlpWidth: 256, maxPositions: 128 },
    ceiling: 500, // the target at this size is half a second
  },
  {
    name: "30 M weights",
    vocabulary: 8192,
    config: { width: 512, layers: 8, heads: 8, kvHeads: 8, headDim: 64, mlpWidth: 1408, maxPositions: 128 },
  },
];
const ADAMW = { kind: "adamw", beta1: 0.9, beta2: 0.95, eps: 1e-8, weightDecay: 0, decayAll: false };
const OPTIONS = {
  optimizer: { ...ADAMW, muonMomentum: 0.95, gradientClip: 1 },
  packedTokens: 256,
  weightStorage: "f32",
};
const folder = mkdtempSync(path.join(tmpdir(), "hone-bench-checkpoint-"));

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

const bytesOf = (at) => readdirSync(at).reduce((sum, name) => sum + statSync(path.join(at, name)).size, 0);

/** Measures one round: the milliseconds of each way, and the bytes of the checkpoint. */
async function round({ config, vocabulary }) {
  const trainer = new Trainer(newModelConfig(config, vocabulary), OPTIONS);
  await trainer.initialize(1n);
  const at = (name) => path.join(folder, name);
  const save = await timed(() => trainer.save(at("saved"), "{}"));
  const copies = [];
  for (const name of ["first", "later"]) {
    copies.push(await timed(() => trainer.stage(at(name), "{}")));
    await trainer.written();
  }
  const bytes = bytesOf(at("later"));
  await trainer.close();
  for (const name of ["saved", "first", "later"]) rmSync(at(name), { recursive: true });
  return { save, first: copies[0], later: copies[1], bytes };
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const rows = [];
for (const model of smoke ? MODELS.slice(0, 1) : MODELS) {
  const rounds = [];
  for (let i = 0; i < (smoke ? 2 : 5); i++) rounds.push(await round(model));
  const of = (key) => median(rounds.map((each) => each[key]));
  const { name, ceiling } = model;
  rows.push(
    { name: `${name}: megabytes of a checkpoint`, value: of("bytes") / 1e6 },
    { name: `${name}: saved before training goes on, ms`, value: of("save") },
    { name: `${name}: copied for the first time, ms`, value: of("first"), ...(ceiling && { ceiling }) },
    { name: `${name}: copied again, ms`, value: of("later"), ...(ceiling && { ceiling }) },
  );
}
rmSync(folder, { recursive: true });
process.stdout.write(`${JSON.stringify({ rows })}\n`);
