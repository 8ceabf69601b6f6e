import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inspectModel } from "../../lib/inference/index.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-inspect-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function safetensors(
  name: string,
  tensors: Record<string, [dtype: string, shape: number[], bytes: number]>,
): void {
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
  writeFileSync(join(dir, name), Buffer.concat([size, header, Buffer.alloc(at)]));
}

const CONFIG = {
  ...{ model_type: "llama", vocab_size: 10, hidden_size: 8, num_hidden_layers: 3, num_attention_heads: 4 },
  ...{ intermediate_size: 16, max_position_embeddings: 100, tie_word_embeddings: true },
};

test("sizes, types and memory of a folder, by hand", () => {
  writeFileSync(join(dir, "config.json"), JSON.stringify({ ...CONFIG, num_key_value_heads: 2 }));
  safetensors("model.safetensors", {
    "model.embed_tokens.weight": ["BF16", [10, 8], 160],
    "model.norm.weight": ["F32", [8], 32],
    "model.layers.0.self_attn.rotary_emb.inv_freq": ["F32", [1], 4],
  });
  expect(inspectModel(dir)).toEqual({
    architecture: "llama",
    decoder: "llama",
    sizes: {
      ...{ vocabulary: 10, width: 8, layers: 3, heads: 4, kvHeads: 2, headDim: 2, mlpWidth: 16 },
      maxPositions: 100,
    },
    tiedHead: true,
    files: 1,
    dtypes: { BF16: { tensors: 1, bytes: 160 }, F32: { tensors: 1, bytes: 32 } },
    parameters: 88,
    skipped: { tensors: 1, bytes: 4 },
    // keys and values of 3 layers, 2 heads of 2, f32
    memory: { weights: 352, keyValuesPerToken: 96, longestContext: 9600, training: 1408 },
  });
});

test("heads that are not said to be shared are not, in shards and inside a wrapper", () => {
  const wrapper = { model_type: "llava", text_config: { ...CONFIG, model_type: "mistral" } };
  writeFileSync(join(dir, "config.json"), JSON.stringify(wrapper));
  const map = { a: "one.safetensors", b: "two.safetensors", "vision_tower.x": "two.safetensors" };
  writeFileSync(join(dir, "model.safetensors.index.json"), JSON.stringify({ weight_map: map }));
  safetensors("one.safetensors", { a: ["F16", [2, 3], 12] });
  safetensors("two.safetensors", { b: ["F16", [4], 8], "vision_tower.x": ["F16", [5], 10] });
  expect(inspectModel(dir)).toMatchObject({
    ...{ architecture: "llava", decoder: "mistral", files: 2, parameters: 10 },
    ...{ sizes: { kvHeads: 4, headDim: 2 }, skipped: { tensors: 1, bytes: 10 } },
  });
});

describe("damaged files are named", () => {
  test.each([
    ["too short", Buffer.from("abc")],
    ["header larger than the file", Buffer.from([255, 0, 0, 0, 0, 0, 0, 0, 123, 125])],
    ["header of no bytes", Buffer.alloc(16)],
    ["header that is no JSON", Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from("{]")])],
    ["header of 2^60 bytes", Buffer.from([0, 0, 0, 0, 0, 0, 0, 16, 0])],
  ])("%s", (_, bytes) => {
    writeFileSync(join(dir, "config.json"), JSON.stringify(CONFIG));
    writeFileSync(join(dir, "model.safetensors"), bytes);
    expect(() => inspectModel(dir)).toThrow(
      expect.objectContaining({
        code: "HONE_ERR_FORMAT",
        message: expect.stringContaining("model.safetensors"),
      }),
    );
  });

  test("a folder without weights", () => {
    writeFileSync(join(dir, "config.json"), JSON.stringify(CONFIG));
    expect(() => inspectModel(dir)).toThrow(expect.objectContaining({ code: "HONE_ERR_IO" }));
  });
});

const GOLDENS = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/goldens/models");

test.skipIf(!existsSync(GOLDENS)).each([
  ["llava-mistral", { architecture: "llava", decoder: "mistral", files: 1 }],
  ["llama-sharded", { architecture: "llama", files: 4 }],
  ["qwen3-bf16", { architecture: "qwen3", dtypes: { BF16: expect.anything() } }],
])("%s as it is (skipped without goldens)", (name, expected) => {
  expect(inspectModel(join(GOLDENS, name))).toMatchObject(expected);
});
