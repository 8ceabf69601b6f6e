// node scripts/gpu-end-to-end.mjs --out <rows.jsonl> [--device cuda|cpu] [--package <folder>] [--work <folder>] [--small]
// Does what a user does on a GPU and writes a JSON line after each task: doctor; the quick start twice, comparing the bits,
// and once asynchronously; an answer; log-probs compared with the CPU's; a LoRA step and a full step with the shape of
// Qwen3-0.6B; tokens per second of whole models. scripts/gpu-check.sh calls it (part "node"). Continues after a failure;
// exits with 1 if a task failed. --small uses tiny shapes, for a rehearsal.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { optionsOf } from "./options.mjs";

const USAGE =
  "node scripts/gpu-end-to-end.mjs --out <rows.jsonl> [--device cuda|cpu] [--package <folder>] [--work <folder>] [--small]";
/** The time limit of a task, so that one that hangs leaves time for the others. */
const LIMIT_MS = 150_000;
/**
 * The largest difference allowed between log-probs on a GPU, whose weights and activations are bf16, and on the CPU in f32:
 * twice the 0.07 by which log-probs change on the CPU if its weights are bf16 (`hone score --weights bf16`).
 */
const MOST_DIFFERENCE = 0.15;

/**
 * The config.json of Qwen/Qwen3-0.6B, copied from lib, because the package does not export it; below it, a shape that is
 * fast on any machine.
 */
export const SHAPE = {
  architectures: ["Qwen3ForCausalLM"],
  model_type: "qwen3",
  vocab_size: 151936,
  hidden_size: 1024,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  intermediate_size: 3072,
  max_position_embeddings: 40960,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  hidden_act: "silu",
  tie_word_embeddings: true,
  torch_dtype: "bfloat16",
};
const SMALL = {
  ...SHAPE,
  vocab_size: 512,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 192,
};

/** Gives random answers different rewards, so that every group trains. */
const REWARD = "export const score = ({ completion }) => (completion.match(/[0-9]/g) ?? []).length / 100;\n";

/** Runs a command of the package and returns what it printed. Throws with the last lines if it fails. */
function command(context, args) {
  const result = spawnSync(process.execPath, [path.join(context.folder, "dist", args[0]), ...args.slice(1)], {
    cwd: context.work,
    encoding: "utf8",
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
    maxBuffer: 1 << 28,
  });
  if (result.status === 0) return result.stdout;
  const why =
    result.error?.code === "ETIMEDOUT" ? `stopped after ${LIMIT_MS / 1000} s` : `exit ${result.status}`;
  const said = `${result.stdout ?? ""}${result.stderr ?? ""}`.trim().split("\n").slice(-6).join(" | ");
  throw new Error(`${why}: ${said}`);
}
const hone = (context, ...args) => command(context, ["lib/cli/main.js", ...args]);
const linesOf = (file) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Returns the mean held-out score over the domains. */
function meanScore([{ domains }]) {
  const scores = Object.values(domains).map((domain) => domain.score);
  return scores.reduce((a, b) => a + b) / scores.length;
}

function quickstart(context, name, ...more) {
  const small = context.small ? ["--smoke"] : [];
  const args = ["--device", context.device, "--dir", name, ...small, ...more];
  command(context, ["recipes/quickstart.js", ...args]);
  const { before, after } = JSON.parse(readFileSync(path.join(context.work, name, "summary.json"), "utf8"));
  return { before: meanScore(before), after: meanScore(after) };
}

const stepsOf = (context, name) =>
  linesOf(path.join(context.work, name, "steps.jsonl")).map((step) => step.metrics);
/** Matches the metrics that must be the same when a synchronous run is repeated: all except times. */
const SAME = /^(loss|grad|update|reward|score|length|entropy|ratio|trained|mismatch|clip|advantage)\b/;
const numbersOf = (metrics) => Object.entries(metrics).filter(([metric]) => SAME.test(metric));

/** Exports a run's final weights to the model folder <name>-model and returns their hash. */
function weightsOf(context, name) {
  hone(context, "export", "--run", name, "--out", `${name}-model`, "--force");
  return createHash("sha256")
    .update(readFileSync(path.join(context.work, `${name}-model`, "model.safetensors")))
    .digest("hex");
}

/** Makes, without the device, the model for asking and scoring, and the tokenizer of the large model. */
function madeHere(context) {
  command(context, ["recipes/quickstart.js", "--smoke", "--device", "cpu", "--dir", "base"]);
  return { sha256: weightsOf(context, "base") };
}

function once(context) {
  const scores = quickstart(context, "first", "--schedule", "sync");
  return { ...scores, sha256: weightsOf(context, "first") };
}

function twice(context) {
  const scores = quickstart(context, "again", "--schedule", "sync");
  const [one, two] = ["first", "again"].map((name) => stepsOf(context, name));
  for (const [i, metrics] of one.entries()) {
    const parted = numbersOf(metrics).find(([metric, value]) => value !== two[i]?.[metric]);
    if (parted) throw new Error(`step ${i + 1}: ${parted[0]} is ${parted[1]}, then ${two[i]?.[parted[0]]}`);
  }
  const [sha256, other] = ["first", "again"].map((name) => weightsOf(context, name));
  if (sha256 !== other) throw new Error("every step measured the same, but the weights at the end differ");
  return { ...scores, steps: one.length, sha256 };
}

function generate(context) {
  const args = [
    "--model",
    "base-model",
    "--prompt",
    "3+4=",
    "--temperature",
    "0",
    "--max-tokens",
    "32",
    "--json",
  ];
  const { text, ids } = JSON.parse(hone(context, "generate", ...args, "--device", context.device));
  return { text, tokens: ids.length };
}

/** Computes log-probs of sequences with the quick start's model, on the device and on the CPU. */
function score(context) {
  const sequences = Array.from({ length: 16 }, (_, s) =>
    JSON.stringify({ ids: Array.from({ length: 48 }, (_, t) => (s * 31 + t * t * 7 + 5) % 40) }),
  );
  writeFileSync(path.join(context.work, "ids.jsonl"), `${sequences.join("\n")}\n`);
  const [ours, cpu] = [context.device, "cpu"].map((device) =>
    hone(context, "score", "--model", "base-model", "--file", "ids.jsonl", "--device", device)
      .trim()
      .split("\n")
      .flatMap((line) => JSON.parse(line).logprobs),
  );
  const largest = Math.max(...ours.map((value, i) => Math.abs(value - cpu[i])));
  if (ours.length === 0 || !(largest <= MOST_DIFFERENCE))
    throw new Error(`log-probs differ from the CPU's by up to ${largest} of at most ${MOST_DIFFERENCE}`);
  return { tokens: ours.length, largestDifference: largest };
}

/** Makes `count` bf16 numbers, uniform over [-scale, scale), the same ones every time. */
function randomRows(count, scale, state) {
  const out = new Uint16Array(count);
  const number = new Float32Array(1);
  const bits = new Uint32Array(number.buffer);
  let seed = state.seed;
  for (let i = 0; i < count; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    number[0] = (seed / 0x8000_0000 - 1) * scale;
    out[i] = bits[0] >>> 16;
  }
  state.seed = seed;
  return out;
}

/** Lists the names and shapes of the weights of a Qwen3 config. */
export function tensorsOf(c) {
  const heads = c.num_attention_heads * c.head_dim;
  const kv = c.num_key_value_heads * c.head_dim;
  const layer = (i) =>
    Object.entries({
      "self_attn.q_proj": [heads, c.hidden_size],
      "self_attn.k_proj": [kv, c.hidden_size],
      "self_attn.v_proj": [kv, c.hidden_size],
      "self_attn.o_proj": [c.hidden_size, heads],
      "self_attn.q_norm": [c.head_dim],
      "self_attn.k_norm": [c.head_dim],
      "mlp.gate_proj": [c.intermediate_size, c.hidden_size],
      "mlp.up_proj": [c.intermediate_size, c.hidden_size],
      "mlp.down_proj": [c.hidden_size, c.intermediate_size],
      input_layernorm: [c.hidden_size],
      post_attention_layernorm: [c.hidden_size],
    }).map(([name, shape]) => [`model.layers.${i}.${name}.weight`, shape]);
  return [
    ["model.embed_tokens.weight", [c.vocab_size, c.hidden_size]],
    ...Array.from({ length: c.num_hidden_layers }, (_, i) => layer(i)).flat(),
    ["model.norm.weight", [c.hidden_size]],
  ];
}

/** Writes a model folder with random weights in bf16, and the tokenizer of another folder. */
export function writeRandomModel(folder, config, tokenizerOf) {
  mkdirSync(folder, { recursive: true });
  for (const name of ["tokenizer.json", "tokenizer_config.json", "generation_config.json"])
    cpSync(path.join(tokenizerOf, name), path.join(folder, name));
  writeFileSync(path.join(folder, "config.json"), JSON.stringify(config));
  const tensors = tensorsOf(config);
  let at = 0;
  const header = {};
  for (const [name, shape] of tensors) {
    const bytes = 2 * shape.reduce((a, b) => a * b);
    header[name] = { dtype: "BF16", shape, data_offsets: [at, at + bytes] };
    at += bytes;
  }
  const text = Buffer.from(JSON.stringify(header));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  const file = openSync(path.join(folder, "model.safetensors"), "w");
  const state = { seed: 1 };
  for (const part of [size, text]) writeSync(file, part);
  for (const [, shape] of tensors) {
    const count = shape.reduce((a, b) => a * b);
    const ones = () => new Uint16Array(count).fill(0x3f80); // norms
    writeSync(file, shape.length === 1 ? ones() : randomRows(count, 0.035, state));
  }
  closeSync(file);
}

/**
 * The metrics to print for each step: seconds, tokens per second, and the difference of the trainer's and engine's log-probs.
 */
const TOLD = [
  "time/step",
  "time/waiting",
  "time/forward",
  "time/backward",
  "time/optimizer",
  "speed/decode",
  "speed/trainer",
  "trained/tokens",
  "mismatch/lag0/mean",
  "mismatch/lag0/max",
  "grad/norm",
];

/** Trains three synchronous steps of 8 prompts x 8 answers (--small: 2 x 8) and returns what each measured. */
function train(context, name, more) {
  writeFileSync(path.join(context.work, "reward.mjs"), REWARD);
  const tokens = context.small ? 16 : 256;
  const recipe = {
    name,
    model: { folder: "shape" },
    ...more,
    domains: { math: { source: "procedural/math", reward: "./reward.mjs#score" } },
    rollouts: { groupSize: 8, maxOutputTokens: tokens, maxPromptTokens: 64 },
    lengthPenalty: { kind: "none" },
    training: { steps: 3, groupsPerStep: context.small ? 2 : 8, schedule: "sync" },
    evaluation: { problemsPerDomain: 0 },
    checkpoint: { everySteps: 1000 },
  };
  writeFileSync(path.join(context.work, `${name}.json`), JSON.stringify(recipe));
  hone(context, "run", `${name}.json`, "--device", context.device, "--dir", name);
  const steps = stepsOf(context, name);
  if (steps.length !== 3) throw new Error(`${steps.length} steps of 3 were done`);
  return Object.fromEntries(TOLD.map((metric) => [metric, steps.map((metrics) => metrics[metric])]));
}

function lora(context) {
  writeRandomModel(
    path.join(context.work, "shape"),
    context.small ? SMALL : SHAPE,
    path.join(context.work, "base-model"),
  );
  return train(context, "lora", { lora: { rank: 16 } });
}

function bench(context) {
  const size = context.small
    ? [
        "--shape",
        "tiny",
        "--batch",
        "1,8",
        "--output-tokens",
        "8",
        "--packed-tokens",
        "256",
        "--prompt-tokens",
        "64",
      ]
    : ["--shape", "0.6b"];
  return JSON.parse(hone(context, "bench", "--device", context.device, ...size, "--json"));
}

/** The tasks, most important first, in case time runs out. */
const THINGS = {
  doctor: (context) => ({ said: hone(context, "doctor").trim().split("\n") }),
  "a small model, on the CPU": madeHere,
  "quick start": once,
  "quick start again, to the bit": twice,
  generate: generate,
  "score beside the CPU": score,
  "LoRA at the shape of 0.6B": lora,
  "full training at the shape of 0.6B": (context) => train(context, "full", {}),
  "quick start, asynchronous": (context) => quickstart(context, "async", "--schedule", "async"),
  "tokens a second": bench,
};

function tell(context, what, body) {
  const begun = performance.now();
  let row;
  try {
    row = { what, status: "passed", ...body(context) };
  } catch (error) {
    row = { what, status: "failed", reason: String(error.message).slice(0, 2000) };
  }
  row.seconds = Number(((performance.now() - begun) / 1000).toFixed(1));
  appendFileSync(context.out, `${JSON.stringify(row)}\n`);
  console.log(
    `${row.status === "failed" ? "FAIL" : "ok  "} ${what}, ${row.seconds} s${row.reason ? `: ${row.reason}` : ""}`,
  );
  return row.status === "passed";
}

function main() {
  const text = { type: "string" };
  const values = optionsOf(
    {
      out: text,
      device: { ...text, default: "cuda" },
      package: text,
      work: text,
      small: { type: "boolean", default: false },
    },
    USAGE,
  );
  if (values.out === undefined) {
    console.error(USAGE);
    return 2;
  }
  const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
  const context = {
    out: path.resolve(values.out),
    device: values.device,
    small: values.small,
    folder: path.resolve(values.package ?? root),
    work: path.resolve(values.work ?? path.join(tmpdir(), `hone-end-to-end-${process.pid}`)),
  };
  rmSync(context.work, { recursive: true, force: true });
  mkdirSync(context.work, { recursive: true });
  const good = Object.entries(THINGS).map(([what, body]) => tell(context, what, body));
  rmSync(context.work, { recursive: true, force: true });
  return good.every(Boolean) ? 0 : 1;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) process.exitCode = main();
