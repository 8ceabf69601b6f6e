import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findConfig, PUBLISHED_CONFIGS } from "../../lib/inference/index.ts";
import { Trainer } from "../../lib/native/index.ts";
import { temporaryFolder, tinyConfig, writeModelFiles } from "../fixtures/model-folder.ts";
import { optimizer } from "../native/small-model.ts";

test.each(Object.keys(PUBLISHED_CONFIGS))("the core takes the config of %s, made small", async (name) => {
  const config = structuredClone(PUBLISHED_CONFIGS[name]) as Record<string, unknown>;
  const text = (config["text_config"] ?? config) as Record<string, unknown>;
  const small = { vocab_size: 64, hidden_size: 32, num_hidden_layers: 1, intermediate_size: 32, head_dim: 8 };
  Object.assign(text, small, { max_position_embeddings: 32 });
  const options = { optimizer, packedTokens: 16, weightStorage: "f32" } as const;
  await new Trainer(JSON.stringify(config), options).close();
});

test("a folder's own config wins, and says whether its weights are there", async () => {
  using folder = temporaryFolder();
  writeModelFiles(folder.path, tinyConfig({ num_hidden_layers: 3 }));
  const bare = await findConfig(folder.path);
  expect(JSON.parse(bare.config)).toMatchObject({ num_hidden_layers: 3 });
  expect([bare.folder, bare.tokenizer]).toEqual([undefined, folder.path]);
  writeFileSync(join(folder.path, "model.safetensors"), "");
  expect((await findConfig(folder.path)).folder).toBe(folder.path);
});

test("a name of the Hub is looked up in its cache, then in the table; nobody is asked", async () => {
  using cache = temporaryFolder();
  const before = process.env["HF_HUB_CACHE"];
  process.env["HF_HUB_CACHE"] = cache.path;
  try {
    const name = "Qwen/Qwen3-0.6B";
    expect(await findConfig(name)).toEqual({
      config: JSON.stringify(PUBLISHED_CONFIGS[name]),
      folder: undefined,
    });
    expect(await findConfig(`${name}@main`)).toMatchObject({ folder: undefined });
    const commit = "0".repeat(40);
    const snapshot = join(cache.path, "models--Qwen--Qwen3-0.6B", "snapshots", commit);
    mkdirSync(snapshot, { recursive: true });
    mkdirSync(join(cache.path, "models--Qwen--Qwen3-0.6B", "refs"));
    writeFileSync(join(cache.path, "models--Qwen--Qwen3-0.6B", "refs", "main"), commit);
    writeModelFiles(snapshot);
    writeFileSync(join(snapshot, "model.safetensors"), "x");
    const found = await findConfig(name);
    expect(found.folder).toBe(snapshot);
    expect(JSON.parse(found.config)).toEqual(tinyConfig());
  } finally {
    if (before === undefined) delete process.env["HF_HUB_CACHE"];
    else process.env["HF_HUB_CACHE"] = before;
  }
});

test("a model nobody knows is named, with those that are known", async () => {
  await expect(findConfig("nobody/nothing")).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringMatching(
      /^nobody\/nothing is no folder \(looked for \/.*\/nobody\/nothing\), is not in the Hub cache, and its sizes/,
    ) as string,
    hint: expect.stringContaining("Qwen/Qwen3-0.6B"),
  });
});
