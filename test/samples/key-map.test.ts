import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { hexOf, type Key, KeyMap, keyOf } from "../../lib/samples/key-map.ts";
import { Table } from "../../lib/samples/table.ts";

const hex = (n: number) => createHash("sha256").update(`${n}`).digest("hex").slice(0, 32);
const table = () => new Table({ key0: "u32", key1: "u32", key2: "u32", key3: "u32" } as const);
const fields = ([key0, key1, key2, key3]: Key) => ({ key0, key1, key2, key3 });

test("every key is found in its last row, also those that came after the first look, and no other", () => {
  const keys = table();
  const map = new KeyMap(keys);
  const last = new Map<string, number>();
  for (let n = 0; n < 20_000; n++) {
    const key = hex(n % 15_000);
    last.set(key, keys.push(fields(keyOf(key)!)));
    if (n % 97 === 0) expect(map.find(keyOf(key)!)).toBe(last.get(key));
  }
  for (const [key, row] of last) expect(map.find(keyOf(key)!)).toBe(row);
  for (let n = 15_000; n < 15_100; n++) expect(map.find(keyOf(hex(n))!)).toBeUndefined();
});

test("keys that share a slot are told apart", () => {
  const keys = table();
  for (let n = 0; n < 100; n++) keys.push({ key0: 7, key1: n, key2: 0, key3: 0 });
  const map = new KeyMap(keys);
  for (let n = 0; n < 100; n++) expect(map.find([7, n, 0, 0])).toBe(n);
  expect(map.find([7, 100, 0, 0])).toBeUndefined();
});

test("32 hex digits and nothing else", () => {
  const keys = table();
  keys.push(fields(keyOf(hex(1))!));
  expect(hexOf(keys, 0)).toBe(hex(1));
  for (const bad of ["", hex(1).slice(1), `${hex(1)}0`, hex(1).replace(/./, "g"), 5, null])
    expect(keyOf(bad as string)).toBeUndefined();
});
