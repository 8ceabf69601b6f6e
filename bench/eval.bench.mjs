// Compares the tokens a second of `hone eval` (samples, decodes text, writes every completion to disk, judges in separate
// processes) with those of the engine alone, which gets the same requests at once and discards its results. The two run in
// turns; the result is the median of their ratios without the first turn. Two models with random weights: the quick
// start's, and one of 26 million parameters, where sampling takes most of the time. Problems: the quick start's, generated.
// --smoke: one short turn of the smaller model.
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const smoke = process.argv.includes("--smoke");
const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const built = (file) => import(pathToFileURL(path.join(root, "dist/lib", file)).href);
const { evaluateSuites, EngineAnswerer, openSuite } = await built("suites/index.js");
const { VerifierPool } = await built("rewards/index.js");
const { loadModel, NO_OPTIMIZER } = await built("inference/index.js");
const { Engine, Generations, Trainer, openTokenizer } = await built("native/index.js");
const { chatFormat, LexiconTokenizer, lexiconFiles } = await built("text/index.js");
const { QUICKSTART_LEXICON } = await built("domains/index.js");
const { writeFileSync } = await import("node:fs");

const WIDTH = 64;
const sampling = { temperature: 1, topP: 1, maxTokens: 80 };
const limit = smoke ? 8 : 96;
/** Each model's name, sizes, seeds and number of turns. */
const MODELS = [
  {
    name: "quick start's model",
    sizes: {
      hidden_size: 96,
      num_hidden_layers: 3,
      num_attention_heads: 3,
      head_dim: 32,
      intermediate_size: 256,
    },
    seeds: 16,
    turns: 7,
  },
  {
    name: "26M parameters",
    sizes: {
      hidden_size: 512,
      num_hidden_layers: 8,
      num_attention_heads: 8,
      head_dim: 64,
      intermediate_size: 1408,
    },
    seeds: 1,
    turns: 3,
  },
];
const seedsOf = (model) => Array.from({ length: smoke ? 1 : model.seeds }, (_, i) => 42 + i);
const scratch = mkdtempSync(path.join(tmpdir(), "hone-bench-eval-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

async function writeModel({ name, sizes }) {
  const folder = path.join(scratch, name);
  const lexicon = new LexiconTokenizer(QUICKSTART_LEXICON);
  const config = {
    model_type: "llama",
    vocab_size: lexicon.vocabularySize,
    ...sizes,
    num_key_value_heads: sizes.num_attention_heads,
    max_position_embeddings: 256,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    tie_word_embeddings: true,
    hidden_act: "silu",
  };
  const trainer = new Trainer(JSON.stringify(config), {
    optimizer: NO_OPTIMIZER,
    packedTokens: 64,
    weightStorage: "f32",
  });
  await trainer.initialize(1n);
  await trainer.save(folder, "");
  await trainer.close();
  for (const { name, text } of lexiconFiles(lexicon, 256)) writeFileSync(path.join(folder, name), text);
  return folder;
}

/** The wall time, and the processor time of this process, which excludes the verifiers' processes. */
function now() {
  const { user, system } = process.cpuUsage();
  return { clock: performance.now() / 1000, processor: (user + system) / 1e6 };
}
const since = (begun) => ({ clock: now().clock - begun.clock, processor: now().processor - begun.processor });
const ratesOf = (tokens, { clock, processor }) => ({ clock: tokens / clock, processor: tokens / processor });

/** Measures the tokens a second of the engine alone. */
async function alone(folder, suites, seeds) {
  const format = chatFormat(folder, openTokenizer(folder));
  const model = await loadModel(folder, { packedTokens: 64 });
  const sizes = { maxRunning: WIDTH, pageTokens: 16, pages: 2048, maxContext: 256, stepTokens: 512 };
  const options = { ...sizes, weightStorage: "f32", runSeed: 0n };
  const generations = new Generations((handlers) => new Engine(model.configJson, options, handlers));
  await model.weights.publish(generations.engine);
  const problems = suites.flatMap((suite) =>
    Array.from({ length: Math.min(limit, suite.count) }, (_, i) => suite.problem(i)),
  );
  const prompts = problems.map((problem) => format.prompt(problem));
  const begun = now();
  const done = await Promise.all(
    prompts.map((prompt, i) =>
      generations.generate({
        id: i + 1,
        prompt,
        count: seeds.length,
        problem: problems[i].id,
        firstAttempt: 0,
        seeds: seeds.map(BigInt),
        sampling: { temperature: sampling.temperature, topP: sampling.topP },
        maxTokens: sampling.maxTokens,
        stopIds: format.stopIds,
      }),
    ),
  );
  const took = since(begun);
  await generations.close();
  await model[Symbol.asyncDispose]();
  return ratesOf(
    done.flat().reduce((sum, { tokens }) => sum + tokens.length, 0),
    took,
  );
}

/** Measures the tokens a second of an evaluation, from the first request to the last completion. */
async function evaluated(folder, suites, seeds, verifiers) {
  const answerer = new EngineAnswerer(folder, { ...sampling, maxRunning: WIDTH });
  let [begun, took, tokens] = [undefined, undefined, 0];
  await evaluateSuites(answerer, suites, {
    dir: mkdtempSync(path.join(scratch, "turn-")),
    model: "bench",
    seeds,
    limit,
    verifiers,
    onProgress: (told) => {
      begun ??= now();
      if (told.there !== told.wanted || took !== undefined) return;
      [took, tokens] = [since(begun), told.tokens];
    },
  });
  await answerer[Symbol.asyncDispose]();
  return ratesOf(tokens, took);
}

const suites = await Promise.all(
  ["math", "logic", "function-calling"].map((name) => openSuite(`procedural/${name}`)),
);
const verifiers = new VerifierPool({ workers: 1 });
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function rowsOf(model) {
  const folder = await writeModel(model);
  const seeds = seedsOf(model);
  const turns = [];
  for (let turn = 0; turn < (smoke ? 1 : model.turns + 1); turn++) {
    const own = await alone(folder, suites, seeds);
    turns.push({ own, eval: await evaluated(folder, suites, seeds, verifiers) });
  }
  if (!smoke) turns.shift(); // in the first turn the verifiers' process starts and V8 compiles
  const ratio = (of) => median(turns.map((turn) => turn.eval[of] / turn.own[of]));
  const rates = (of) => ({
    evaluation: median(turns.map((turn) => turn.eval[of])),
    engine: median(turns.map((turn) => turn.own[of])),
  });
  const name = `evaluation, of the engine's own tokens/s, ${model.name}`;
  return [
    { name, value: ratio("clock"), floor: 0.9, ...rates("clock") },
    { name: `${name}, per second of processor time`, value: ratio("processor"), ...rates("processor") },
  ];
}

const rows = [];
for (const model of smoke ? MODELS.slice(0, 1) : MODELS) rows.push(...(await rowsOf(model)));
await verifiers.close();
console.log(JSON.stringify({ threads: availableParallelism(), rows }));
