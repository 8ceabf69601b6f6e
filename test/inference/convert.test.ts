// Writes model folders, and reads them back with an independent reader and with the core.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { convertModel, withDtype, withoutQuantization } from "../../lib/inference/convert.ts";
import { exportModel, loadModel, scoreSequences } from "../../lib/inference/index.ts";
import { Trainer } from "../../lib/native/index.ts";
import { readFolder, readSafetensors, writeSafetensors } from "../fixtures/safetensors.ts";
import { long } from "../long.ts";
import { trainerOptions } from "../native/small-model.ts";

const CONFIG = {
  model_type: "llama",
  vocab_size: 40,
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  intermediate_size: 32,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  hidden_act: "silu",
  rope_theta: 10000,
  torch_dtype: "float32",
};

let dir: string;
let source: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-convert-"));
  source = join(dir, "source");
  const trainer = new Trainer(JSON.stringify(CONFIG), trainerOptions);
  await trainer.initialize(5n);
  await trainer.save(source, "");
  await trainer.close();
  writeFileSync(join(source, "config.json"), JSON.stringify(CONFIG));
  rmSync(join(source, "optimizer.safetensors"));
  rmSync(join(source, "manifest.json"));
  writeFileSync(join(source, "tokenizer.json"), "{}");
  writeFileSync(join(source, "pytorch_model.bin"), "pickle");
  writeFileSync(join(source, ".gitattributes"), "");
  mkdirSync(join(source, "additional_chat_templates"));
  mkdirSync(join(source, "onnx"));
  writeFileSync(join(source, "additional_chat_templates/tool_use.jinja"), "{{ tools }}");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const to = () => join(dir, "target");

async function logprobs(folder: string): Promise<Float32Array> {
  await using model = await loadModel(folder);
  const { vocabulary, maxPositions, weights } = model;
  const [score] = await scoreSequences(weights, [[1, 7, 3, 39, 0, 5]], {
    temperature: 1,
    vocabulary,
    maxPositions,
  });
  return score!.logprobs;
}

/** Saves new weights: every parameter differs from the source's. */
async function trainedCheckpoint(): Promise<string> {
  const trainer = new Trainer(JSON.stringify(CONFIG), trainerOptions);
  await trainer.initialize(6n);
  await trainer.save(join(dir, "step-000001"), "");
  await trainer.close();
  return join(dir, "step-000001");
}

describe("a folder converted to nothing else", () => {
  test("has the same weight files to the byte, and its small files", async () => {
    const report = await convertModel(source, { target: to() });
    const files = ["additional_chat_templates", "config.json", "model.safetensors", "tokenizer.json"];
    expect(readdirSync(to()).sort()).toEqual(files);
    for (const name of ["config.json", "model.safetensors", "tokenizer.json"])
      expect(readFileSync(join(to(), name)).equals(readFileSync(join(source, name)))).toBe(true);
    expect(readFileSync(join(to(), "additional_chat_templates/tool_use.jinja"), "utf8")).toBe("{{ tools }}");
    expect(report).toMatchObject({
      converted: 0,
      replaced: 0,
      files: 1,
      copied: ["config.json", "additional_chat_templates/tool_use.jinja", "tokenizer.json"],
      leftOut: ["onnx/", "pytorch_model.bin"],
    });
  });

  test.runIf(long)(
    "takes small files along up to 128 MiB, as large tokenizers are; what is larger is named",
    async () => {
      for (const [name, bytes] of [
        ["vocab.json", 2 ** 27],
        ["training-data.json", 2 ** 27 + 1],
      ] as const) {
        writeFileSync(join(source, name), "");
        truncateSync(join(source, name), bytes);
      }
      const { copied, leftOut } = await convertModel(source, { target: to() });
      expect(copied).toContain("vocab.json");
      expect(statSync(join(to(), "vocab.json")).size).toBe(2 ** 27);
      expect(leftOut).toContain("training-data.json");
      expect(existsSync(join(to(), "training-data.json"))).toBe(false);
    },
  );

  test("may be a snapshot of links", async () => {
    const links = join(dir, "links");
    mkdirSync(links);
    for (const name of ["config.json", "model.safetensors"])
      symlinkSync(join(source, name), join(links, name));
    await convertModel(links, { target: to() });
    expect(readFolder(to())).toEqual(readFolder(source));
  });
});

test("f32 in many files says the same log-probabilities to the bit", async () => {
  const told: number[] = [];
  const report = await convertModel(source, {
    target: to(),
    shardBytes: 5000,
    onProgress: (done) => told.push(done),
  });
  expect(report.files).toBeGreaterThan(3);
  expect(readFolder(to())).toEqual(readFolder(source));
  expect(await logprobs(to())).toEqual(await logprobs(source));
  expect(told.at(-1)).toBe(report.bytes);
});

test("as bf16 each number is the nearest one, and converting back changes nothing more", async () => {
  await convertModel(source, { target: to(), dtype: "bf16" });
  expect(JSON.parse(readFileSync(join(to(), "config.json"), "utf8"))).toEqual({
    ...CONFIG,
    torch_dtype: "bfloat16",
  });
  const stored = readFolder(source);
  for (const [name, { dtype, shape, bytes }] of readFolder(to())) {
    expect([dtype, shape]).toEqual(["BF16", stored.get(name)!.shape]);
    const floats = stored.get(name)!.bytes;
    const near = (bits: number) => new Float32Array(new Uint32Array([bits << 16]).buffer)[0]!;
    const misses: number[] = [];
    for (let i = 0; i < bytes.length / 2; ++i) {
      const error = (bits: number) => Math.abs(near(bits) - floats.readFloatLE(4 * i));
      const bits = bytes.readUInt16LE(2 * i);
      if (!(error(bits) <= Math.min(error(bits - 1), error(bits + 1)))) misses.push(i);
    }
    expect(misses).toEqual([]);
  }
  await convertModel(to(), { target: join(dir, "wide"), dtype: "f32" });
  await convertModel(join(dir, "wide"), { target: join(dir, "narrow"), dtype: "bf16" });
  expect(readFolder(join(dir, "narrow"))).toEqual(readFolder(to()));
  expect(await logprobs(join(dir, "wide"))).toEqual(await logprobs(to()));
});

test("a number beyond f16 is named with its place", async () => {
  const tensors = Object.fromEntries(readFolder(source));
  const bytes = Buffer.from(tensors["model.norm.weight"]!.bytes);
  bytes.writeFloatLE(1e5, 12);
  tensors["model.norm.weight"] = { ...tensors["model.norm.weight"]!, bytes };
  writeSafetensors(join(source, "model.safetensors"), tensors);
  await expect(convertModel(source, { target: to(), dtype: "f16" })).rejects.toMatchObject({
    code: "HONE_ERR_DATA",
    message: 'tensor "model.norm.weight" [3] is 100000, too large for f16; choose bf16 or f32.',
  });
  expect(existsSync(to())).toBe(false);
});

describe("a target", () => {
  test("that is not empty is only replaced when asked to", async () => {
    mkdirSync(to());
    await convertModel(source, { target: to() }); // an empty folder counts as missing
    writeFileSync(join(to(), "mine"), "");
    await expect(convertModel(source, { target: to() })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      hint: expect.stringContaining("--force"),
    });
    await convertModel(source, { target: to(), force: true });
    expect(existsSync(join(to(), "mine"))).toBe(false);
  });

  test("that is no model folder is never replaced", async () => {
    mkdirSync(to());
    writeFileSync(join(to(), "thesis.tex"), "");
    await expect(convertModel(source, { target: to(), force: true })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
    });
    expect(readdirSync(to())).toEqual(["thesis.tex"]);
  });

  test.each([
    ["the source", () => source],
    ["inside the source", () => join(source, "sub")],
    ["around the source", () => dir],
    ["the source by another name", () => join(dir, "alias")],
    ["inside the source by another name", () => join(dir, "alias", "sub", "..", "sub")],
  ])("that is %s is refused", async (_, target) => {
    symlinkSync(source, join(dir, "alias"));
    await expect(convertModel(source, { target: target(), force: true })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
      message: expect.stringContaining("one folder"),
    });
  });

  test.each([
    ["begins with the source's", () => `${source}-bf16`],
    ["the source's begins with", () => source.slice(0, -1)],
  ])("whose name %s lies beside it, not inside", async (_, target) => {
    await convertModel(source, { target: target() });
    expect(readFolder(target())).toEqual(readFolder(source));
  });

  test("that is a file is refused", async () => {
    writeFileSync(to(), "");
    await expect(convertModel(source, { target: to(), force: true })).rejects.toMatchObject({
      code: "HONE_ERR_USAGE",
    });
  });
});

test("called off, it leaves nothing", async () => {
  const signal = AbortSignal.abort();
  await expect(convertModel(source, { target: to(), signal })).rejects.toMatchObject({
    code: "HONE_ERR_ABORTED",
  });
  expect(readdirSync(dir).sort()).toEqual(["source"]);
});

describe("an export", () => {
  test("is the source with trained values: its files, its dtypes, its tokenizer", async () => {
    const half = join(dir, "half");
    await convertModel(source, { target: half, dtype: "bf16", shardBytes: 4000 });
    const checkpoint = await trainedCheckpoint();
    const report = await exportModel(half, { target: to(), checkpoint });
    expect(report.replaced).toBe(report.tensors);
    expect(readdirSync(to()).sort()).toEqual(readdirSync(half).sort());
    expect(readFileSync(join(to(), "config.json"))).toEqual(readFileSync(join(half, "config.json")));
    // the same as the checkpoint alone, rounded to bf16
    await convertModel(checkpoint, { target: join(dir, "expected"), dtype: "bf16" });
    expect(readFolder(to())).toEqual(readFolder(join(dir, "expected")));
    expect(await logprobs(to())).not.toEqual(await logprobs(half));
  });

  test("in f32 has the checkpoint's log-probabilities to the bit", async () => {
    const checkpoint = await trainedCheckpoint();
    await exportModel(source, { target: to(), checkpoint, dtype: "f32" });
    expect(await logprobs(to())).toEqual(await logprobs(checkpoint));
  });

  test("of a run from random weights has its config and weights, and nothing else of the checkpoint", async () => {
    const checkpoint = await trainedCheckpoint();
    await exportModel(undefined, { target: to(), checkpoint, dtype: "bf16" });
    expect(readdirSync(to()).sort()).toEqual(["config.json", "model.safetensors"]);
    const config = JSON.parse(readFileSync(join(to(), "config.json"), "utf8"));
    expect(config).toMatchObject({
      architectures: ["LlamaForCausalLM"],
      model_type: "llama",
      dtype: "bfloat16",
    });
    expect(readSafetensors(join(to(), "model.safetensors")).get("model.norm.weight")!.dtype).toBe("BF16");
  });

  test("of another model is refused", async () => {
    const trainer = new Trainer(JSON.stringify({ ...CONFIG, num_hidden_layers: 1 }), trainerOptions);
    await trainer.save(join(dir, "other"), "");
    await trainer.close();
    await expect(exportModel(source, { target: to(), checkpoint: join(dir, "other") })).rejects.toMatchObject(
      {
        code: "HONE_ERR_FORMAT",
        message: expect.stringContaining("model.layers.1."),
      },
    );
  });
});

describe("the config's dtype", () => {
  test.each([
    ['{"torch_dtype": "float32"}', '{"torch_dtype": "bfloat16"}'],
    ['{"dtype":"torch.float16", "eps": 1e-06}', '{"dtype":"bfloat16", "eps": 1e-06}'],
    [
      '{"dtype":"float32","text_config":{"dtype":"float32"}}',
      '{"dtype":"bfloat16","text_config":{"dtype":"bfloat16"}}',
    ],
    ['{"a": 1.0}', '{\n  "dtype": "bfloat16","a": 1.0}'],
    ['{"dtype": null}', '{\n  "dtype": "bfloat16","dtype": null}'],
    ["{}", '{"dtype": "bfloat16"}'],
  ])("%s", (before, after) => {
    expect(withDtype(before, "bf16")).toBe(after);
  });
});

const GOLDENS = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/goldens/models");

test.skipIf(!existsSync(GOLDENS))(
  "every golden model comes back with the same files (skipped without goldens)",
  async () => {
    for (const name of readdirSync(GOLDENS)) {
      await convertModel(join(GOLDENS, name), { target: join(dir, name) });
      for (const file of readdirSync(join(GOLDENS, name)).filter((f) => !f.startsWith("golden")))
        expect(readFileSync(join(dir, name, file)).equals(readFileSync(join(GOLDENS, name, file)))).toBe(
          true,
        );
    }
  },
);

describe("quantization_config is taken out of an exported config, and nothing else", () => {
  test.each([
    [
      '{"a": 1e-05, "quantization_config": {"x": {"}": "{"}, "m": ["a"]}, "b": 7.0}',
      '{"a": 1e-05, "b": 7.0}',
    ],
    ['{\n  "quantization_config": {},\n  "b": 7.0\n}', '{\n  "b": 7.0\n}'],
    ['{"a": 1,\n  "quantization_config": {"m": "fp8"}\n}', '{"a": 1\n}'],
    ['{"quantization_config": null, "b": 1}', '{"quantization_config": null, "b": 1}'],
    ['{"b": 1}', '{"b": 1}'],
  ])("%j", (before, after) => {
    expect(withoutQuantization(before)).toBe(after);
    expect(JSON.parse(withoutQuantization(before))).toEqual(JSON.parse(after));
  });
});
