import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inspectModel, loadModel, resolveModelFolder } from "../../lib/inference/index.ts";
import { StandInHub } from "../fixtures/hub-server.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-inspect-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

type Tensors = Record<string, [dtype: string, shape: number[], bytes: number]>;

function safetensors(name: string, tensors: Tensors): void {
  writeFileSync(join(dir, name), contents(tensors));
}

function contents(tensors: Tensors): Buffer {
  let at = 0;
  const entries = Object.entries(tensors).map(([tensor, [dtype, shape, bytes]]) => {
    at += bytes;
    return [tensor, { dtype, shape, data_offsets: [at - bytes, at] }];
  });
  const header = Buffer.from(
    JSON.stringify({ __metadata__: { format: "pt" }, ...Object.fromEntries(entries) }),
  );
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([size, header, Buffer.alloc(at)]);
}

const CONFIG = {
  model_type: "llama",
  vocab_size: 10,
  hidden_size: 8,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  intermediate_size: 16,
  max_position_embeddings: 100,
  tie_word_embeddings: true,
};

test.each([10_000_000, 1e18])("%i layers are refused before anything is made of them", async (layers) => {
  writeFileSync(join(dir, "config.json"), JSON.stringify({ ...CONFIG, num_hidden_layers: layers }));
  const before = process.memoryUsage().rss;
  const message = expect.stringMatching(/config\.json: num_hidden_layers is 10+; it must be in \[1, 8192\]/);
  for (const meet of [inspectModel, loadModel]) {
    await expect(meet(dir)).rejects.toMatchObject({ code: "HONE_ERR_CONFIG", message });
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 2 ** 20);
});

test.skipIf(process.platform !== "linux").each([
  ["a named pipe", (path: string) => void execFileSync("mkfifo", [path])],
  ["a device", (path: string) => symlinkSync("/dev/zero", path)],
])("%s in place of the weights is named, here and where they are loaded", async (kind, make) => {
  writeFileSync(join(dir, "config.json"), JSON.stringify(CONFIG));
  make(join(dir, "model.safetensors"));
  await expect(inspectModel(dir)).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringMatching(/model\.safetensors: not a regular file/),
  });
  await expect(loadModel(dir)).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringContaining(`model.safetensors is ${kind}, not a file`),
  });
});

test("sizes, types and memory of a folder, by hand", async () => {
  writeFileSync(join(dir, "config.json"), JSON.stringify({ ...CONFIG, num_key_value_heads: 2 }));
  safetensors("model.safetensors", {
    "model.embed_tokens.weight": ["BF16", [10, 8], 160],
    "model.norm.weight": ["F32", [8], 32],
    "model.layers.0.self_attn.rotary_emb.inv_freq": ["F32", [1], 4],
  });
  expect(await inspectModel(dir)).toEqual({
    architecture: "llama",
    decoder: "llama",
    sizes: {
      vocabulary: 10,
      width: 8,
      layers: 3,
      heads: 4,
      kvHeads: 2,
      headDim: 2,
      mlpWidth: 16,
      maxPositions: 100,
    },
    tiedHead: true,
    warnings: [],
    files: 1,
    dtypes: { BF16: { tensors: 1, bytes: 160 }, F32: { tensors: 1, bytes: 32 } },
    parameters: 88,
    skipped: { tensors: 1, bytes: 4 },
    // keys and values of 3 layers with 2 heads of size 2, in f32
    memory: { weights: 352, keyValuesPerToken: 96, longestContext: 9600, training: 1408 },
  });
});

test("heads that are not said to be shared are not, in shards and inside a wrapper", async () => {
  const wrapper = { model_type: "llava", text_config: { ...CONFIG, model_type: "mistral" } };
  writeFileSync(join(dir, "config.json"), JSON.stringify(wrapper));
  const map = { a: "one.safetensors", b: "two.safetensors", "vision_tower.x": "two.safetensors" };
  writeFileSync(join(dir, "model.safetensors.index.json"), JSON.stringify({ weight_map: map }));
  safetensors("one.safetensors", { a: ["F16", [2, 3], 12] });
  safetensors("two.safetensors", { b: ["F16", [4], 8], "vision_tower.x": ["F16", [5], 10] });
  expect(await inspectModel(dir)).toMatchObject({
    architecture: "llava",
    decoder: "mistral",
    files: 2,
    parameters: 10,
    sizes: { kvHeads: 4, headDim: 2 },
    skipped: { tensors: 1, bytes: 10 },
  });
});

describe("damaged files are named", () => {
  test.each([
    ["too short", Buffer.from("abc")],
    ["header larger than the file", Buffer.from([255, 0, 0, 0, 0, 0, 0, 0, 123, 125])],
    ["header of no bytes", Buffer.alloc(16)],
    ["header that is no JSON", Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from("{]")])],
    ["header of 2^60 bytes", Buffer.from([0, 0, 0, 0, 0, 0, 0, 16, 0])],
  ])("%s", async (_, bytes) => {
    writeFileSync(join(dir, "config.json"), JSON.stringify(CONFIG));
    writeFileSync(join(dir, "model.safetensors"), bytes);
    await expect(inspectModel(dir)).rejects.toMatchObject({
      code: "HONE_ERR_FORMAT",
      message: expect.stringContaining("model.safetensors"),
    });
  });

  test("an index that points out of the folder", async () => {
    writeFileSync(join(dir, "config.json"), JSON.stringify(CONFIG));
    const index = join(dir, "model.safetensors.index.json");
    writeFileSync(index, JSON.stringify({ weight_map: { a: "../x.safetensors" } }));
    await expect(inspectModel(dir)).rejects.toMatchObject({
      code: "HONE_ERR_FORMAT",
      message: `${index}: "../x.safetensors" is not a plain .safetensors name`,
    });
  });

  test("a folder without weights", async () => {
    writeFileSync(join(dir, "config.json"), JSON.stringify(CONFIG));
    await expect(inspectModel(dir)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining(join(dir, "model.safetensors")),
    });
  });
});

describe("a model of the Hub", () => {
  // A header longer than the first read, and tensor data that must not be requested.
  const many = Object.fromEntries(
    Array.from({ length: 1500 }, (_, i) => [`layers.${i}`, ["BF16", [2, 2], 8]] as const),
  );
  const shards = {
    "one.safetensors": contents({ a: ["F16", [1000, 1000], 2_000_000] }),
    "two.safetensors": contents(many as unknown as Tensors),
  };
  const files = {
    "config.json": JSON.stringify(CONFIG),
    "model.safetensors.index.json": JSON.stringify({
      weight_map: { a: "one.safetensors", "layers.0": "two.safetensors" },
    }),
    ...shards,
  };
  const FOUND = { files: 2, parameters: 1_000_000 + 6000, dtypes: { F16: { tensors: 1, bytes: 2_000_000 } } };
  const headerEnd = (name: keyof typeof shards) => 8 + Number(shards[name].readBigUInt64LE());
  const cacheHas = (bytes: number) =>
    readdirSync(dir, { recursive: true, withFileTypes: true }).some(
      (entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).size >= bytes,
    );
  let hub: StandInHub;
  let env: Record<string, string>;
  beforeEach(async () => {
    hub = new StandInHub(files);
    env = { HF_HOME: dir, HF_ENDPOINT: await hub.listen() };
  });
  afterEach(() => hub[Symbol.asyncDispose]());
  const inspect = () => inspectModel("org/tiny", { env, retryDelaysMs: [1, 1] });

  test("is asked for the headers of its weights alone, in one look where they are short", async () => {
    expect(await inspect()).toMatchObject(FOUND);
    expect(headerEnd("two.safetensors")).toBeGreaterThan(65_536);
    expect([hub.rangesOf("one.safetensors"), hub.rangesOf("two.safetensors")]).toEqual([
      ["bytes=0-65535"],
      ["bytes=0-65535", `bytes=0-${headerEnd("two.safetensors") - 1}`],
    ]);
    expect(cacheHas(10_000)).toBe(false);
  });

  test("that knows no ranges is left as soon as the header is there", async () => {
    await inspect(); // downloads the small files
    hub.ranges = false;
    hub.cuts.push(65_536, 65_536, headerEnd("two.safetensors")); // then the server sends nothing more
    expect(await inspect()).toMatchObject(FOUND);
    expect(cacheHas(10_000)).toBe(false);
  });

  test("that breaks off is asked again, and in the end named", async () => {
    await inspect();
    hub.cuts.push(0, 0);
    expect(await inspect()).toMatchObject(FOUND);
    hub.cuts.push(0, 0, 0);
    await expect(inspect()).rejects.toMatchObject({
      code: "HONE_ERR_HUB",
      message: expect.stringMatching(/one\.safetensors: broken off after 0 of 65536 bytes/),
    });
  });

  test("that lacks a file of its index says so", async () => {
    hub.files.delete("two.safetensors");
    await expect(inspect()).rejects.toMatchObject({
      code: "HONE_ERR_UNSUPPORTED",
      message: "org/tiny at 01234567 has no two.safetensors",
    });
  });

  test("is not asked where its weights are in the cache; offline without them is refused", async () => {
    const offline = { offline: true, env };
    await inspect();
    await expect(inspectModel("org/tiny", offline)).rejects.toMatchObject({
      code: "HONE_ERR_HUB",
      message: expect.stringContaining("lacks one.safetensors in the cache"),
    });
    await resolveModelFolder("org/tiny", { env });
    hub.seen.length = 0;
    expect(await inspectModel("org/tiny", offline)).toMatchObject(FOUND);
    expect(await inspect()).toMatchObject(FOUND);
    expect(hub.rangesOf("one.safetensors")).toEqual([]);
  });
});

const GOLDENS = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/goldens/models");

test.skipIf(!existsSync(GOLDENS)).each([
  ["llava-mistral", { architecture: "llava", decoder: "mistral", files: 1 }],
  ["llama-sharded", { architecture: "llama", files: 4 }],
  ["qwen3-bf16", { architecture: "qwen3", dtypes: { BF16: expect.anything() } }],
])("%s as it is (skipped without goldens)", async (name, expected) => {
  expect(await inspectModel(join(GOLDENS, name))).toMatchObject(expected);
});

test("a hybrid's layers without attention have no keys and values", async () => {
  const linear = {
    linear_num_key_heads: 2,
    linear_num_value_heads: 2,
    linear_key_head_dim: 4,
    linear_value_head_dim: 4,
  };
  const config = {
    ...CONFIG,
    model_type: "qwen3_5_text",
    num_hidden_layers: 8,
    num_key_value_heads: 2,
    head_dim: 8,
  };
  writeFileSync(join(dir, "config.json"), JSON.stringify({ ...config, ...linear }));
  safetensors("model.safetensors", { "model.norm.weight": ["F32", [8], 32] });
  // layers 4 and 8: keys and values of two heads of size 8, in f32
  expect((await inspectModel(dir)).memory.keyValuesPerToken).toBe(2 * 2 * 2 * 8 * 4);
});
