import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DiskSet } from "../../../lib/orchestration/records/disk-set.ts";

// Deliberate faults (mutants) that these tests detect: the table does not grow, growth loses keys, probing does not
// wrap around, a slot is used twice.

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-disk-set-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const hash = (n: number) => createHash("sha256").update(String(n)).digest("hex").slice(0, 32);

test("knows what was added, as a set in memory does, across several doublings", () => {
  using set = new DiskSet(join(dir, "index"));
  const known = new Set<string>();
  for (let i = 0; i < 20_000; i++) {
    const key = hash((i * 7919) % 9_001);
    expect(set.add(key)).toBe(!known.has(key));
    known.add(key);
  }
  expect(set.size).toBe(9_001);
});

test("keys that all begin alike are told apart, also past the end of the table", () => {
  using set = new DiskSet(join(dir, "index"));
  const keys = Array.from({ length: 200 }, (_, i) => `ff0f0000${String(i + 1).padStart(24, "0")}`);
  expect(keys.map((key) => set.add(key))).toEqual(keys.map(() => true));
  expect(keys.map((key) => set.add(key))).toEqual(keys.map(() => false));
});

test("leaves no file, and a place that cannot be written is a typed error", () => {
  using set = new DiskSet(join(dir, "index"));
  set.add(hash(1));
  expect(readdirSync(dir)).toEqual([]);
  expect(() => new DiskSet("/dev/null/index")).toThrowError(expect.objectContaining({ code: "HONE_ERR_IO" }));
});
