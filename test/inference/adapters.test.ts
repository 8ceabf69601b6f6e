// Tests what the adapter export writes, and that it overwrites nothing. test/e2e/one-card.test.ts covers merging and
// loading by PEFT.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exportAdapters, holdsAdapters } from "../../lib/inference/index.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-adapters-"));
  mkdirSync(join(dir, "checkpoint"));
  writeFileSync(join(dir, "checkpoint/adapter_config.json"), '{"r":4}');
  writeFileSync(join(dir, "checkpoint/adapter_model.safetensors"), "weights");
  writeFileSync(join(dir, "checkpoint/optimizer.safetensors"), "moments");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (target: string, force = false) =>
  exportAdapters(join(dir, "checkpoint"), { base: "org/name", target, force, card: "# card" });

test("a PEFT folder has the adapters, their config with the base's name, and a card", () => {
  const target = join(dir, "out");
  write(target);
  expect(readdirSync(dir).sort()).toEqual(["checkpoint", "out"]);
  expect(readdirSync(target).sort()).toEqual([
    "README.md",
    "adapter_config.json",
    "adapter_model.safetensors",
  ]);
  expect(JSON.parse(readFileSync(join(target, "adapter_config.json"), "utf8"))).toEqual({
    r: 4,
    base_model_name_or_path: "org/name",
  });
  expect(readFileSync(join(target, "adapter_model.safetensors"), "utf8")).toBe("weights");
  expect(holdsAdapters(target)).toBe(true);
});

test("a folder that is there is replaced only when asked, and only one of adapters", () => {
  const target = join(dir, "out");
  write(target);
  expect(() => write(target)).toThrow("is not empty");
  write(target, true);
  rmSync(join(target, "adapter_config.json"));
  expect(() => write(target, true)).toThrow("has no adapter_config.json");
  expect(() => write(join(dir, "checkpoint"), true)).toThrow("are one folder");
});
