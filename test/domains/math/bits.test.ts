import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shift, squareRoot, width } from "../../../lib/domains/math/bits.ts";

// Deliberate faults (mutants) that these tests detect: the doubling steps stop at a quarter of the digits and no last
// steps follow, right shifts round towards zero.

describe("the square root", () => {
  test("of small numbers is what counting up finds", () => {
    let root = 0n;
    for (let n = 0n; n <= 5000n; n++) {
      if ((root + 1n) ** 2n <= n) root++;
      expect(squareRoot(n)).toBe(root);
    }
  });

  test("of large numbers lies between the squares around it", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1n << 2000n }), fc.nat(2000), (n, by) => {
        const some = n >> BigInt(by);
        const root = squareRoot(some);
        expect(root * root <= some && (root + 1n) * (root + 1n) > some).toBe(true);
      }),
    );
  });

  test("of squares and their neighbours is exact", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 1n << 700n }), (root) => {
        const found = [root * root - 1n, root * root, root * root + 1n].map(squareRoot);
        expect(found).toEqual([root - 1n, root, root]);
      }),
    );
  });

  test("of a negative number is 0", () => expect(squareRoot(-4n)).toBe(0n));
});

test("a shift multiplies by a power of two and rounds down", () => {
  expect([shift(5n, 3), shift(5n, -1), shift(-5n, -1), shift(7n, 0)]).toEqual([40n, 2n, -3n, 7n]);
});

test("the width is the count of binary digits, to within one", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(1n << 1500n), max: 1n << 1500n }), fc.nat(1500), (n, by) => {
      const some = n >> BigInt(by);
      fc.pre(some !== 0n);
      expect(Math.abs(width(some) - `${some.toString(2)}`.replace("-", "").length)).toBeLessThanOrEqual(1);
    }),
  );
});
