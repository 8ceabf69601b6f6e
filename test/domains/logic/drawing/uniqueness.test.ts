import { describe, expect, test } from "vitest";
import { allDifferent, bit, search, span } from "../../../../lib/domains/logic/drawing/finite-domain.ts";
import { carve, drawUntil, hasOneSolution } from "../../../../lib/domains/logic/drawing/uniqueness.ts";

test("drawUntil gives the first attempt that comes to something, and gives up in the end", () => {
  let attempts = 0;
  expect(drawUntil(() => (++attempts < 7 ? undefined : attempts))).toBe(7);
  expect(() => drawUntil(() => undefined)).toThrow("nothing usable in 20000 attempts");
});

test.each([
  [[span(0, 1), bit(1)], true],
  [[span(0, 1), span(0, 1)], false],
  [[bit(1), bit(1)], false],
])("domains %j with different values have one solution: %s", (domains, one) => {
  expect(hasOneSolution({ domains, constraints: [allDifferent([0, 1])] })).toBe(one);
});

test("a search that gives up proves nothing", () => {
  const domains = Array(12).fill(span(0, 12));
  const variables = domains.map((_, i) => i);
  const model = { domains, constraints: [allDifferent(variables)] };
  expect(hasOneSolution(model, 1)).toBe(false);
  expect(search(model, { maxNodes: 12 })).toMatchObject({ solutions: { length: 1 }, complete: false });
  expect(hasOneSolution(model, 12)).toBe(false);
});

describe("carve", () => {
  test("takes up to the target, in order", () => {
    expect(carve([5, 4, 3, 2, 1], 3, () => true)).toEqual([5, 4, 3]);
    expect(carve([1, 2], 5, () => true)).toEqual([1, 2]);
    expect(carve([1, 2], 2, () => false)).toEqual([]);
  });

  test("passes over what must stay, and finds everything else", () => {
    const stays = new Set([2, 3, 7]);
    const items = Array.from({ length: 10 }, (_, i) => i);
    expect(carve(items, 10, (taken) => taken.every((item) => !stays.has(item)))).toEqual([
      0, 1, 4, 5, 6, 8, 9,
    ]);
  });

  test("proves an easy target at once", () => {
    let proofs = 0;
    carve(
      Array.from({ length: 40 }, (_, i) => i),
      20,
      () => ++proofs > 0,
    );
    expect(proofs).toBe(1);
  });
});
