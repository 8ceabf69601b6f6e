// Compares with counts worked out by hand, for each pair of dtypes that can be compared.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changedWeights } from "../../lib/inference/changed-weights.ts";
import { type StoredTensor, writeSafetensors } from "../fixtures/safetensors.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-changed-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const f32 = (...values: number[]): StoredTensor => {
  const bytes = Buffer.from(new Float32Array(values).buffer);
  return { dtype: "F32", shape: [values.length], bytes };
};
/** Cuts each float to its upper 16 bits, exact for values with short mantissas. */
const bf16 = (...values: number[]): StoredTensor => {
  const words = new Uint32Array(new Float32Array(values).buffer);
  const bytes = Buffer.from(Uint16Array.from(words, (w) => w >>> 16).buffer);
  return { dtype: "BF16", shape: [values.length], bytes };
};

/** Writes a model folder with one weight file. */
function folder(name: string, tensors: Readonly<Record<string, StoredTensor>>): string {
  mkdirSync(join(dir, name));
  writeSafetensors(join(dir, name, "model.safetensors"), tensors);
  return join(dir, name);
}

test("one dtype: by the bits", async () => {
  const before = folder("a", { x: f32(1, 2, 3), y: f32(0) });
  const after = folder("b", { y: f32(-0), x: f32(1, 2.5, 3) });
  expect(await changedWeights(before, after)).toEqual({ weights: 4, changed: 2 });
});

test("f32 that rounds to the bf16 that is there has not changed", async () => {
  // 1.00390625 lies halfway between 1 and the next bf16, 1.0078125, and rounds to the even one, 1.
  const before = folder("a", { x: f32(1.003, 1.00390625, 1.004, 1.01171875, 1.012) });
  const after = folder("b", { x: bf16(1, 1, 1, 1.015625, 1.015625) });
  expect(await changedWeights(before, after)).toEqual({ weights: 5, changed: 1 });
});

test("bf16 that became f32", async () => {
  const before = folder("a", { x: bf16(1, 2) });
  const after = folder("b", { x: f32(1, 2.0000002) });
  expect(await changedWeights(before, after)).toEqual({ weights: 2, changed: 1 });
});

test("what cannot be compared is left out: other shapes, other names, integers", async () => {
  const integer: StoredTensor = { dtype: "I64", shape: [1], bytes: Buffer.alloc(8) };
  const before = folder("a", { x: f32(1, 2), gone: f32(1), n: integer });
  const after = folder("b", { x: f32(1), new: f32(1), n: integer });
  expect(await changedWeights(before, after)).toEqual({ weights: 0, changed: 0 });
});
