// Decoding by llama.cpp through node-llama-cpp, on random weights of the shapes of decode.bench.cc, as a peer.
// Optional: without the package it reports no rows. Install it beside the project, never as a dependency: npm install
// --no-save node-llama-cpp@3.22.1
// The work differs: its JavaScript API samples token by token. Batches of 32 sequences, one thread (two spinning
// workers and the JavaScript thread are very slow on two cores, see docs/explanation/bench.md).
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const smoke = process.argv.includes("--smoke");
const MODELS = [
  { name: "d128 L4", width: 128, layers: 4, heads: 4, mlp: 384, vocabulary: 512 },
  { name: "d256 L6", width: 256, layers: 6, heads: 8, mlp: 768, vocabulary: 4096 },
  { name: "d512 L8", width: 512, layers: 8, heads: 8, mlp: 1408, vocabulary: 8192 },
];
const BATCH = 32;
const PROMPT_TOKENS = 8;

/** The vocabulary: three special tokens, 256 byte tokens (the loader requires them), then generated words. */
const tokenText = (i) =>
  ["<unk>", "<s>", "</s>"][i] ??
  (i < 259 ? `<0x${(i - 3).toString(16).toUpperCase().padStart(2, "0")}>` : `t${i}`);
const tokenType = (i) => [2, 3, 3][i] ?? (i < 259 ? 6 : 1);

/** A GGUF file (version 3, f32) with a dummy vocabulary; the layout follows the format's public specification. */
function gguf(model) {
  const parts = [];
  const u32 = (v) => parts.push(Buffer.from(Uint32Array.of(v).buffer));
  const u64 = (v) => parts.push(Buffer.from(BigUint64Array.of(BigInt(v)).buffer));
  const text = (s) => {
    u64(Buffer.byteLength(s));
    parts.push(Buffer.from(s));
  };
  const keys = [];
  const key = (name, type, write) => keys.push({ name, type, write });
  const number = (name, v) => key(name, 4, () => u32(v));
  key("general.architecture", 8, () => text("llama"));
  number("llama.context_length", 2048);
  number("llama.embedding_length", model.width);
  number("llama.block_count", model.layers);
  number("llama.feed_forward_length", model.mlp);
  number("llama.attention.head_count", model.heads);
  number("llama.attention.head_count_kv", model.heads);
  number("llama.rope.dimension_count", model.width / model.heads);
  number("llama.vocab_size", model.vocabulary);
  key("llama.attention.layer_norm_rms_epsilon", 6, () =>
    parts.push(Buffer.from(Float32Array.of(1e-5).buffer)),
  );
  key("tokenizer.ggml.model", 8, () => text("llama"));
  const list = (name, type, write) =>
    key(name, 9, () => {
      u32(type);
      u64(model.vocabulary);
      for (let i = 0; i < model.vocabulary; i++) write(i);
    });
  list("tokenizer.ggml.tokens", 8, (i) => text(tokenText(i)));
  list("tokenizer.ggml.scores", 6, (i) => parts.push(Buffer.from(Float32Array.of(-i).buffer)));
  list("tokenizer.ggml.token_type", 5, (i) => parts.push(Buffer.from(Int32Array.of(tokenType(i)).buffer)));
  number("tokenizer.ggml.bos_token_id", 1);
  number("tokenizer.ggml.eos_token_id", 2);

  const { width: d, mlp: f, vocabulary: v } = model;
  const tensors = [
    ["token_embd.weight", d, v],
    ["output_norm.weight", d],
    ["output.weight", d, v],
  ];
  for (let i = 0; i < model.layers; i++) {
    const block = [
      ["attn_norm", d],
      ["attn_q", d, d],
      ["attn_k", d, d],
      ["attn_v", d, d],
      ["attn_output", d, d],
      ["ffn_norm", d],
      ["ffn_gate", d, f],
      ["ffn_up", d, f],
      ["ffn_down", f, d],
    ];
    for (const [name, ...shape] of block) tensors.push([`blk.${i}.${name}.weight`, ...shape]);
  }
  parts.push(Buffer.from("GGUF"));
  u32(3);
  u64(tensors.length);
  u64(keys.length);
  for (const { name, type, write } of keys) {
    text(name);
    u32(type);
    write();
  }
  let offset = 0;
  const data = [];
  for (const [name, ...shape] of tensors) {
    text(name);
    u32(shape.length);
    for (const n of shape) u64(n);
    u32(0);
    u64(offset);
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    if (shape.length === 1) values.fill(1);
    else for (let i = 0; i < values.length; i++) values[i] = (Math.random() - 0.5) * 0.1;
    const padded = Math.ceil(values.byteLength / 32) * 32;
    data.push(Buffer.from(values.buffer), Buffer.alloc(padded - values.byteLength));
    offset += padded;
  }
  const header = Buffer.concat(parts);
  return Buffer.concat([header, Buffer.alloc((32 - (header.length % 32)) % 32), ...data]);
}

async function tokensPerSecond(llama, file, steps) {
  const model = await llama.loadModel({ modelPath: file, gpuLayers: 0 });
  const context = await model.createContext({
    sequences: BATCH,
    contextSize: 512,
    batchSize: 512,
    threads: 1,
  });
  const sequences = Array.from({ length: BATCH }, () => context.getSequence());
  const run = async (count) => {
    await Promise.all(
      sequences.map(async (sequence, lane) => {
        await sequence.clearHistory();
        const prompt = Array.from({ length: PROMPT_TOKENS }, (__, i) => 260 + lane + i);
        let n = 0;
        for await (const _token of sequence.evaluate(prompt, { temperature: 1, yieldEogToken: true })) {
          if (++n >= count) break;
        }
      }),
    );
  };
  await run(2);
  const start = performance.now();
  await run(steps);
  const rate = (BATCH * steps * 1000) / (performance.now() - start);
  await context.dispose();
  await model.dispose();
  return rate;
}

async function rows() {
  let api;
  try {
    api = await import("node-llama-cpp");
  } catch {
    return [];
  }
  const llama = await api.getLlama({ gpu: false, build: "never", maxThreads: 1, logLevel: "error" });
  const folder = mkdtempSync(path.join(tmpdir(), "hone-peer-"));
  const found = [];
  for (const model of MODELS.slice(0, smoke ? 1 : 3)) {
    const file = path.join(folder, "model.gguf");
    writeFileSync(file, gguf(model));
    const rate = await tokensPerSecond(llama, file, smoke ? 4 : 128);
    found.push({
      name: `llama.cpp ${model.name}, batch ${BATCH}`,
      batch: BATCH,
      threads: 1,
      tokensPerSecond: rate,
    });
  }
  rmSync(folder, { recursive: true });
  return found;
}

const found = await rows();
const note = found.length > 0 ? "node-llama-cpp, f32, 1 thread" : "node-llama-cpp is not installed";
process.stdout.write(`${JSON.stringify({ note, rows: found })}\n`, () => process.exit(0));
