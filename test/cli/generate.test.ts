import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Generation, generate } from "../../lib/cli/generate.ts";
import { generateTokens, loadModel, scoreSequences } from "../../lib/inference/index.ts";
import { openTokenizer, Trainer } from "../../lib/native/index.ts";
import { tinyConfig, tinyModel } from "../fixtures/model-folder.ts";

const TOKENIZER = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/goldens/tokenizers/qwen2");
const here = existsSync(TOKENIZER);

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-generate-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A tiny model with fresh weights and the vocabulary of a golden tokenizer; @returns its config. */
async function modelFolder(): Promise<Record<string, unknown>> {
  const vocabulary = openTokenizer(TOKENIZER).vocabularySize;
  const config = {
    model_type: "llama",
    vocab_size: vocabulary,
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 8,
    intermediate_size: 32,
    max_position_embeddings: 128,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
    hidden_act: "silu",
    rope_theta: 10000,
  };
  const trainer = new Trainer(JSON.stringify(config), {
    optimizer: {
      kind: "adamw",
      beta1: 0.9,
      beta2: 0.95,
      eps: 1e-8,
      weightDecay: 0,
      decayAll: false,
      muonMomentum: 0.95,
      gradientClip: 0,
    } as const,
    packedTokens: 64,
    weightStorage: "f32",
  });
  await trainer.initialize(3n);
  await trainer.save(join(dir, "model"), "");
  await trainer.close();
  for (const name of ["tokenizer.json", "tokenizer_config.json"])
    if (existsSync(join(TOKENIZER, name))) cpSync(join(TOKENIZER, name), join(dir, "model", name));
  return config;
}

const REQUEST = {
  prompt: "Grüße, 世界!",
  raw: true,
  sampling: { temperature: 1 },
  maxTokens: 24,
  seed: 4n,
};

test.skipIf(!here)(
  "streams the text its ids decode to, the same for the same seed (skipped without goldens)",
  async () => {
    await modelFolder();
    const directory = join(dir, "model");
    writeFileSync(join(directory, "generation_config.json"), JSON.stringify({ eos_token_id: [0] }));
    const pieces: string[] = [];
    const answer = await generate({ ...REQUEST, directory }, (piece) => pieces.push(piece));
    const tokenizer = openTokenizer(TOKENIZER);
    expect(tokenizer.decode(answer.promptIds, { skipSpecial: true })).toBe(REQUEST.prompt);
    expect(pieces.join("")).toBe(answer.text);
    expect(answer.text).toBe(tokenizer.decode(answer.ids, { skipSpecial: true }));
    expect(answer.logprobs).toHaveLength(answer.ids.length);
    const again = await generate({ ...REQUEST, directory }, () => {});
    expect({ ...again, tokensPerSecond: 0 }).toEqual({ ...answer, tokensPerSecond: 0 });
  },
);

test.skipIf(!here)("stops at the end the folder's files name (skipped without goldens)", async () => {
  const config = await modelFolder();
  const directory = join(dir, "model");
  writeFileSync(join(directory, "generation_config.json"), JSON.stringify({ eos_token_id: [0] }));
  const { ids } = await generate({ ...REQUEST, directory }, () => {});
  const stop = ids[5]!;
  const before = ids.indexOf(stop) + 1;
  for (const [file, content] of [
    ["generation_config.json", { eos_token_id: stop }],
    ["config.json", { ...config, eos_token_id: [stop] }],
  ] as const) {
    rmSync(join(directory, "generation_config.json"), { force: true });
    writeFileSync(join(directory, file), JSON.stringify(content));
    const stopped = await generate({ ...REQUEST, directory }, () => {});
    expect(stopped).toMatchObject({ ids: ids.slice(0, before), finish: "eos" });
  }
});

test.skipIf(!here)(
  "without --raw the folder must have a chat template (skipped without goldens)",
  async () => {
    await modelFolder();
    const directory = join(dir, "model");
    const file = join(directory, "tokenizer_config.json");
    const config = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
    const chat = { ...REQUEST, directory, raw: false };
    writeFileSync(file, JSON.stringify({ ...config, eos_token: undefined, chat_template: undefined }));
    await expect(generate(chat, () => {})).rejects.toMatchObject({ code: "HONE_ERR_CONFIG" });
    writeFileSync(file, JSON.stringify({ ...config, chat_template: "U:{{ messages[0].content }} A:" }));
    writeFileSync(join(directory, "generation_config.json"), JSON.stringify({ eos_token_id: [0] }));
    const { promptIds } = await generate(chat, () => {});
    expect(openTokenizer(TOKENIZER).decode(promptIds)).toBe("U:Grüße, 世界! A:");
  },
);

test("ids of a padded embedding, which the vocabulary has no text for, are not sampled", async () => {
  const directory = await tinyModel(join(dir, "padded"));
  const tokenizer = openTokenizer(directory);
  await using model = await loadModel(directory);
  const options = { sampling: REQUEST.sampling, maxTokens: 200, seed: REQUEST.seed, stopIds: [] };
  const padding: number[] = [];
  for await (const { id } of generateTokens(model, tokenizer.encode("a"), options))
    if (id >= tokenizer.vocabularySize) padding.push(id);
  expect(padding, "without the mask none is sampled: the test would prove nothing").not.toEqual([]);
  const answer = await generate({ ...REQUEST, prompt: "a", maxTokens: 200, directory }, () => {});
  expect(Math.max(...answer.ids)).toBeLessThan(tokenizer.vocabularySize);
  expect(answer.text).toBe(tokenizer.decode(answer.ids, { skipSpecial: true }));
});

test("weights are kept as the folder says: the log-probs are those that a trainer scores so, f32 gives others", async () => {
  const directory = await tinyModel(join(dir, "stored"), tinyConfig({ dtype: "bfloat16" }));
  const request = { ...REQUEST, prompt: "a", directory };
  const scored = async ({ promptIds, ids }: Generation, weights: "f32" | "bf16") => {
    await using model = await loadModel(directory, { weights });
    const { vocabulary, maxPositions } = model;
    const sequences = [[...promptIds, ...ids]];
    const [score] = await scoreSequences(model.weights, sequences, {
      temperature: 1,
      vocabulary,
      maxPositions,
    });
    return Array.from(score!.logprobs).slice(-ids.length);
  };
  const stored = await generate(request, () => {});
  expect(stored.logprobs).toEqual(await scored(stored, "bf16"));
  expect(stored.logprobs).not.toEqual(await scored(stored, "f32"));
  const exact = await generate({ ...request, weights: "f32" }, () => {});
  expect(exact.logprobs).toEqual(await scored(exact, "f32"));
});

test("an answer is as long as the model has positions for, unless it was asked to be longer", async () => {
  const directory = await tinyModel(join(dir, "short"));
  const file = join(directory, "config.json");
  writeFileSync(
    file,
    JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), max_position_embeddings: 16 }),
  );
  const { maxTokens: _, ...request } = { ...REQUEST, prompt: "a", directory };
  const { ids, promptIds, finish } = await generate(request, () => {});
  expect([ids.length + promptIds.length <= 16, finish]).toEqual([
    true,
    ids.length + promptIds.length === 16 ? "length" : "eos",
  ]);
  const room = 16 - promptIds.length;
  await expect(generate({ ...request, maxTokens: room + 1 }, () => {})).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: `the prompt has ${promptIds.length} tokens and --max-tokens is ${room + 1}, but the model has only 16 positions`,
    hint: `Give --max-tokens ${room} or less.`,
  });
  await expect(generate({ ...request, prompt: "a ".repeat(40) }, () => {})).rejects.toThrow(
    "the model has only 16 positions",
  );
});

test("a run's model is asked as its recipe asks", async () => {
  const directory = await tinyModel(join(dir, "chat"));
  const request = { ...REQUEST, prompt: "a", raw: false, maxTokens: 1, directory };
  const own = await generate(request, () => {});
  const plain = await generate({ ...request, chat: { plain: true } }, () => {});
  expect(plain.promptIds).toEqual([...openTokenizer(directory).encode("a", { addSpecial: true })]);
  expect(own.promptIds.length).toBeGreaterThan(plain.promptIds.length);
});
