import { expect, test } from "vitest";
import { TraceHash } from "../../lib/simulate/trace-hash.ts";

const hashOf = (...numbers: readonly number[]) => {
  const hash = new TraceHash();
  hash.add(...numbers);
  return hash.text;
};

test("numbers, their order and their last bit count", () => {
  expect(hashOf(1, 2.5)).toMatch(/^[0-9a-f]{16}$/);
  expect(hashOf(1, 2.5)).toBe(hashOf(1, 2.5));
  const all = [
    hashOf(),
    hashOf(1),
    hashOf(1, 2.5),
    hashOf(2.5, 1),
    hashOf(1, 2.5 + Number.EPSILON * 2),
    hashOf(0, 1),
  ];
  expect(new Set(all).size).toBe(all.length);
});
