import { expect, test } from "vitest";
import { agreementOf, foundOf } from "../../lib/traces/agreement.ts";

const times = (n: number, a: string | undefined, b: string | undefined) =>
  Array.from({ length: n }, () => [a, b] as const);

test("kappa of Cohen's kind of table, worked out by hand", () => {
  // 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed agreement 35/50; by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5; kappa
  // (0.7 - 0.5) / 0.5.
  const pairs = [
    ...times(20, "y", "y"),
    ...times(5, "y", "n"),
    ...times(10, "n", "y"),
    ...times(15, "n", "n"),
  ];
  const { count, share, kappa } = agreementOf(pairs)!;
  expect([count, share]).toEqual([50, 0.7]);
  expect(kappa).toBeCloseTo(0.4, 12);
});

test("kappa of three names with unequal habits, worked out by hand", () => {
  // a: 4/10 and 5/10, b: 4/10 and 2/10, c: 2/10 and 3/10; agreement by chance 0.2 + 0.08 + 0.06 = 0.34, observed 3 + 2
  // + 1 of 10.
  const pairs = [
    ...times(3, "a", "a"),
    ...times(1, "a", "c"),
    ...times(2, "b", "b"),
    ...times(1, "b", "a"),
    ...times(1, "b", "c"),
    ...times(1, "c", "c"),
    ...times(1, "c", "a"),
  ];
  expect(agreementOf(pairs)!.kappa).toBeCloseTo((0.6 - 0.34) / 0.66, 12);
});

test("what one of them did not name is left out; opposite readers are below chance; one name alone has no kappa", () => {
  expect(agreementOf([...times(3, undefined, "a"), ...times(1, "a", "a"), ...times(1, "b", "b")])).toEqual({
    count: 2,
    share: 1,
    kappa: 1,
  });
  expect(agreementOf([...times(2, "a", "b"), ...times(2, "b", "a")])!.kappa).toBe(-1);
  expect(agreementOf(times(5, "a", "a"))).toEqual({ count: 5, share: 1, kappa: undefined });
  expect(agreementOf(times(5, "a", undefined))).toBeUndefined();
});

test("precision is of what was given, recall of what was wanted", () => {
  const pairs = [
    ...times(2, "a", "a"),
    ...times(6, "a", "b"),
    ...times(1, "b", "a"),
    ...times(1, "b", undefined),
  ];
  expect(foundOf("a", pairs)).toEqual({ name: "a", wanted: 8, given: 3, precision: 2 / 3, recall: 0.25 });
  expect(foundOf("z", pairs)).toEqual({
    name: "z",
    wanted: 0,
    given: 0,
    precision: undefined,
    recall: undefined,
  });
});
