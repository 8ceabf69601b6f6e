import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectWeights } from "../../lib/inference/expect-weights.ts";
import { temporaryFolder } from "../fixtures/model-folder.ts";

// Mutants tried: an index does not count as weights, adapters beside GGUF are told as GGUF.

const adapters = JSON.stringify({ base_model_name_or_path: "org/base" });

test.each<[string, Record<string, string>, RegExp]>([
  ["pickles", { "pytorch_model.bin": "" }, /AutoModelForCausalLM\.from_pretrained\("[^"]+model"\)/],
  ["GGUF", { "model-q8_0.gguf": "" }, /GGUF files are not read/],
  [
    "adapters",
    { "adapter_config.json": adapters, "x.gguf": "" },
    /adapters of org\/base.*folder: "org\/base", adapter: "[^"]+model" .*from_pretrained\("org\/base"\).*merge_and_unload/,
  ],
  ["damaged adapters", { "adapter_config.json": "{" }, /adapters of <base>\./],
  ["Mistral's own file", { "consolidated.safetensors": "" }, /download model\.safetensors/],
  [
    "shards without their index",
    { "model-00001-of-00002.safetensors": "" },
    /need model\.safetensors\.index/,
  ],
  ["other files", { "config.json": "", "notes.md": "" }, /this one has config\.json, notes\.md\.$/],
  ["nothing", {}, /index\.json\)\.$/],
])("%s in place of weights are told, with what to do", (_, files, hint) => {
  using folder = temporaryFolder();
  const model = join(folder.path, "model");
  mkdirSync(model, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(model, name), text);
  expect(() => expectWeights(model)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_IO",
      message: `${model}/model.safetensors is not there, and no model.safetensors.index.json either`,
      hint: expect.stringMatching(hint) as string,
    }),
  );
});

test("weights in one file or with an index are accepted; a file is no folder", () => {
  using folder = temporaryFolder();
  mkdirSync(folder.path, { recursive: true });
  for (const name of ["model.safetensors", "model.safetensors.index.json"]) {
    const file = join(folder.path, name);
    writeFileSync(file, "");
    expect(() => expectWeights(folder.path)).not.toThrow();
    rmSync(file);
  }
  const file = join(folder.path, "model.gguf");
  writeFileSync(file, "");
  expect(() => expectWeights(file)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining("GGUF files are not read") as string }),
  );
  expect(() => expectWeights(join(folder.path, "none"))).toThrow(/none\/model\.safetensors is not there/);
});
