import { expect, test } from "vitest";
import { binomial, combinatorial, factorial } from "../../../lib/domains/math/integer-functions.ts";
import { BudgetExceeded, integer, rational, toText } from "../../../lib/domains/math/rational.ts";

// Deliberate faults (mutants) that these tests detect: binomial without the bound of its symmetric shortcut, ceil as
// floor + 1, mod with truncation.

test.each([
  ["abs", [[-3, 2]], "3/2"],
  ["floor", [[-3, 2]], "-2"],
  ["ceil", [[-3, 2]], "-1"],
  ["ceil", [[4, 1]], "4"],
  ["factorial", [[5, 1]], "120"],
  [
    "binomial",
    [
      [5, 1],
      [2, 1],
    ],
    "10",
  ],
  [
    "binomial",
    [
      [5, 1],
      [7, 1],
    ],
    "0",
  ],
  [
    "binomial",
    [
      [-2, 1],
      [3, 1],
    ],
    "-4",
  ],
  [
    "mod",
    [
      [-7, 1],
      [3, 1],
    ],
    "2",
  ],
  [
    "max",
    [
      [1, 2],
      [2, 3],
      [-5, 1],
    ],
    "2/3",
  ],
  [
    "min",
    [
      [1, 2],
      [2, 3],
      [-5, 1],
    ],
    "-5",
  ],
  [
    "gcd",
    [
      [12, 1],
      [-18, 1],
    ],
    "6",
  ],
  [
    "lcm",
    [
      [4, 1],
      [6, 1],
      [10, 1],
    ],
    "60",
  ],
  [
    "lcm",
    [
      [0, 1],
      [6, 1],
    ],
    "0",
  ],
] as const)("%s%j is %s", (name, args, expected) => {
  const value = combinatorial(
    name,
    args.map(([n, d]) => rational(BigInt(n), BigInt(d))),
  );
  expect(value && toText(value)).toBe(expected);
});

test.each([
  ["factorial", [rational(1n, 2n)]],
  ["factorial", [integer(-1)]],
  ["binomial", [rational(1n, 2n), integer(1)]],
  ["mod", [integer(1), integer(0)]],
  ["gcd", [rational(1n, 2n), integer(1)]],
  ["sin", [integer(0)]],
  ["f", []],
] as const)("%s has no rational value there (%#)", (name, args) =>
  expect(combinatorial(name, args)).toBeUndefined(),
);

test("Pascal's rule holds", () => {
  for (let n = 1n; n < 30n; n++) {
    for (let k = 1n; k <= n; k++) expect(binomial(n, k)).toBe(binomial(n - 1n, k - 1n) + binomial(n - 1n, k));
  }
});

test("huge ones give up", () => {
  expect(() => factorial(10n ** 9n)).toThrow(BudgetExceeded);
  expect(() => binomial(10n ** 6n, 5n * 10n ** 5n)).toThrow(BudgetExceeded);
});
