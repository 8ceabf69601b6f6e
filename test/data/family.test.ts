import { expect, test } from "vitest";
import { atLevel, LEVELS } from "../../lib/data/family.ts";

test("a table is read at each of its levels and nowhere else", () => {
  const table = ["a", "b", "c", "d"] as const;
  expect(Array.from({ length: LEVELS }, (_, level) => atLevel([...table], level))).toEqual(table);
  for (const level of [-1, LEVELS, 0.5, Number.NaN]) {
    expect(() => atLevel([...table], level)).toThrow(`level is ${level}, expected 0..3`);
  }
});
