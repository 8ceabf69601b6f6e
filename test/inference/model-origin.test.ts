import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkOrigin, originOf } from "../../lib/inference/model-origin.ts";

// Deliberate faults (mutants) that these tests detect: weights are compared by size alone, only the first block is
// hashed, the recipe's template is ignored, folders are compared by path.

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-origin-"));
  const index = { weight_map: { a: "model-1.safetensors", b: "model-2.safetensors" } };
  writeFileSync(join(folder, "config.json"), "{}");
  writeFileSync(join(folder, "tokenizer.json"), "{}");
  writeFileSync(join(folder, "model.safetensors.index.json"), JSON.stringify(index));
  for (const n of [1, 2]) writeFileSync(join(folder, `model-${n}.safetensors`), Buffer.alloc(300_000, n));
});
afterEach(() => rmSync(folder, { recursive: true }));

const complaint = (recorded: ReturnType<typeof originOf>): string => {
  try {
    checkOrigin("runs/x", recorded, originOf(folder));
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test("every file that matters is named, each shard too, and nothing else", () => {
  writeFileSync(join(folder, "README.md"), "x");
  const { files } = originOf(folder);
  const names = ["config.json", "tokenizer.json", "model-1.safetensors", "model-2.safetensors"];
  expect(Object.keys(files)).toEqual(names);
  for (const hash of Object.values(files)) expect(hash).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ["its config", "config.json", () => writeFileSync(join(folder, "config.json"), "{ }")],
  [
    "a chat template that was not there",
    "chat_template.jinja",
    () => writeFileSync(join(folder, "chat_template.jinja"), "x"),
  ],
  ["a weight at the end of a shard", "model-2.safetensors", () => flip("model-2.safetensors", 299_999)],
  ["a weight in the middle of a shard", "model-1.safetensors", () => flip("model-1.safetensors", 150_000)],
  ["a longer shard", "model-1.safetensors", () => appendFileSync(join(folder, "model-1.safetensors"), "x")],
])("a folder is another once it has %s", (_, name, change) => {
  const before = originOf(folder);
  expect(complaint(before)).toBe("");
  change();
  expect(complaint(before)).toMatch(
    new RegExp(`runs/x began from .* and ${name.replaceAll(".", "\\.")} differ`),
  );
});

function flip(name: string, at: number): void {
  const bytes = readFileSync(join(folder, name));
  bytes[at]! ^= 1;
  writeFileSync(join(folder, name), bytes);
}

test("a folder that moved is the same", () => {
  const before = originOf(folder);
  const moved = `${folder}-moved`;
  cpSync(folder, moved, { recursive: true });
  expect(() => checkOrigin("runs/x", before, originOf(moved))).not.toThrow();
  rmSync(moved, { recursive: true });
});

test("a template of the recipe's own is part of what a run began with", () => {
  const template = join(folder, "mine.jinja");
  writeFileSync(template, "a");
  const before = originOf(folder, template);
  writeFileSync(template, "b");
  expect(() => checkOrigin("r", before, originOf(folder, template))).toThrow("mine.jinja differ");
});

test("a new model is not a folder, nor a folder a new model", () => {
  const origin = originOf(folder);
  expect(() => checkOrigin("r", undefined, undefined)).not.toThrow();
  expect(() => checkOrigin("r", undefined, origin)).toThrow("began with a new model");
  expect(() => checkOrigin("r", origin, undefined)).toThrow("now the field gives a new model");
});

test("weights that are missing are an error that names them", () => {
  rmSync(join(folder, "model-2.safetensors"));
  expect(() => originOf(folder)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_IO",
      message: expect.stringContaining("model-2.safetensors") as string,
    }) as Error,
  );
});
