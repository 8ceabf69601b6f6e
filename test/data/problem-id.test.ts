import fc from "fast-check";
import { expect, test } from "vitest";
import { PURPOSES, partsOf, problemId } from "../../lib/data/problem-id.ts";

test("an id holds purpose, ordinal and index, and nothing overlaps", () => {
  const index = fc.nat(2 ** 24 - 1);
  fc.assert(
    fc.property(fc.constantFrom(...PURPOSES), fc.nat(63), index, (purpose, ordinal, i) => {
      const id = problemId(purpose, ordinal, i);
      expect(PURPOSES[Math.floor(id / 2 ** 30)]).toBe(purpose);
      expect(Math.floor(id / 2 ** 24) % 64).toBe(ordinal);
      expect(id % 2 ** 24).toBe(i);
    }),
  );
});

test.each([
  [0, -1],
  [0, 2 ** 24],
  [0, 0.5],
  [64, 0],
  [-1, 0],
])("ordinal %d with index %d is refused", (ordinal, index) => {
  expect(() => problemId("train", ordinal, index)).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_DATA" }),
  );
});

test("an id says what it was made of", () => {
  for (const purpose of ["train", "held-out", "demonstration"] as const)
    for (const index of [0, 7, 2 ** 24 - 1])
      for (const ordinal of [0, 63])
        expect(partsOf(problemId(purpose, ordinal, index))).toEqual({ purpose, index });
});
