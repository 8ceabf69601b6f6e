import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as q from "../../../lib/domains/math/rational.ts";

// Deliberate faults (mutants) that these tests detect: rational() does not normalise the sign, floor() truncates,
// roundScaled() rounds ties away from zero, power() does not check the size (hangs), factor() drops the cofactor.
// Each fails here.

const whole = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
const fraction = fc
  .tuple(
    whole,
    whole.filter((d) => d !== 0n),
  )
  .map(([n, d]) => q.rational(n, d));

describe("fractions", () => {
  test("are in lowest terms with a positive denominator", () => {
    fc.assert(
      fc.property(fraction, (r) => {
        expect(r.d > 0n).toBe(true);
        expect(q.gcd(r.n, r.d) === 1n || r.n === 0n).toBe(true);
      }),
    );
  });

  test("form a field", () => {
    fc.assert(
      fc.property(fraction, fraction, fraction, (a, b, c) => {
        expect(q.add(a, b)).toEqual(q.add(b, a));
        expect(q.multiply(a, q.add(b, c))).toEqual(q.add(q.multiply(a, b), q.multiply(a, c)));
        expect(q.subtract(q.add(a, b), b)).toEqual(a);
        if (b.n !== 0n) expect(q.multiply(q.divide(a, b), b)).toEqual(a);
      }),
    );
  });

  test("compare as the integers they stand for", () => {
    fc.assert(
      fc.property(fraction, fraction, (a, b) => {
        expect(q.compare(a, b)).toBe(
          Math.sign(Number((a.n * b.d - b.n * a.d) / 1n > 0n) - Number(a.n * b.d < b.n * a.d)),
        );
        expect(q.floor(a) * a.d <= a.n && a.n < (q.floor(a) + 1n) * a.d).toBe(true);
      }),
    );
  });

  test("divided by zero are undefined", () => {
    expect(() => q.rational(1n, 0n)).toThrow(q.Undefined);
    expect(() => q.divide(q.ONE, q.ZERO)).toThrow(q.Undefined);
    expect(() => q.power(q.ZERO, -1)).toThrow(q.Undefined);
  });
});

describe("sizes", () => {
  test.each([
    0n,
    1n,
    -1n,
    255n,
    256n,
    2n ** 52n,
    2n ** 53n,
    2n ** 53n - 1n,
    2n ** 64n,
    2n ** 1000n,
    2n ** 1000n - 1n,
  ])("bit length of %d", (n) => {
    const text = (n < 0n ? -n : n).toString(2);
    expect(q.bitLength(n)).toBe(n === 0n ? 0 : text.length);
  });

  test("beyond the limit give up before they are built", () => {
    expect(() => q.power(q.integer(9), 1_000_000_000)).toThrow(q.BudgetExceeded);
    expect(() => q.multiply(q.integer(2n ** 8000n), q.integer(2n ** 8000n))).toThrow(q.BudgetExceeded);
    expect(() => q.parseDecimal("9".repeat(3000))).toThrow(q.BudgetExceeded);
    expect(() => q.parseDecimal("1", 999_999_999)).toThrow(q.BudgetExceeded);
  });

  test("of powers of one are free", () => {
    expect(q.power(q.MINUS_ONE, 1_000_000_001)).toEqual(q.MINUS_ONE);
    expect(q.power(q.rational(2n, 3n), -3)).toEqual(q.rational(27n, 8n));
  });
});

test.each([
  ["12", "12"],
  ["3.40", "17/5"],
  [".5", "1/2"],
  ["0.125", "1/8"],
  ["007", "7"],
])("%s reads as %s", (text, expected) => expect(q.toText(q.parseDecimal(text))).toBe(expected));

test.each([
  ["0.3333335", 333334n],
  ["0.3333345", 333334n],
  ["0.33333349", 333333n],
  ["2.0000005", 2000000n],
])("%s rounds to %d millionths, ties to even", (text, expected) => {
  expect(q.roundScaled(q.parseDecimal(text), 6)).toBe(expected);
  expect(q.roundScaled(q.negate(q.parseDecimal(text)), 6)).toBe(-expected);
});

test("the product of the factors is the number, whatever is prime", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 24n }), (n) => {
      let product = 1n;
      for (const [p, k] of q.factor(n)) product *= p ** BigInt(k);
      expect(product).toBe(n);
    }),
  );
  expect(q.factor(2003n ** 2n)).toEqual(new Map([[2003n, 2]]));
});

test("integer roots are floors", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 60n }), fc.integer({ min: 2, max: 7 }), (n, k) => {
      const r = q.integerRoot(n, k);
      expect(r ** BigInt(k) <= n && n < (r + 1n) ** BigInt(k)).toBe(true);
    }),
  );
});
