import { shift, squareRoot, width } from "./bits.ts";
import type { Budget } from "./budget.ts";
import { BudgetExceeded, bitLength, type Rational, Undefined } from "./rational.ts";

/** m * 2^e; zero is m = 0. A mantissa has at most the precision of its arithmetic. */
export interface Real {
  readonly m: bigint;
  readonly e: number;
}

export const NIL: Real = { m: 0n, e: 0 };
const MAX_EXPONENT = 2 ** 40;

/** Exponent of the leading bit plus one: |x| < 2^top(x), and at least half of it. -Infinity for zero. */
export const top = (x: Real): number => (x.m === 0n ? Number.NEGATIVE_INFINITY : width(x.m) + x.e);

/**
 * Binary floating point of `bits` bits. Sums, products, quotients and square roots are good to within a few units of
 * the last place. Work is charged to the budget.
 */
export class RealArithmetic {
  readonly bits: number;
  readonly #budget: Budget;

  constructor(bits: number, budget: Budget) {
    this.bits = bits;
    this.#budget = budget;
  }

  /** Charges the budget for work that callers do for this class. */
  spend(steps: number): void {
    this.#budget.spend(steps);
  }

  /** m * 2^e rounded to the working precision. Throws Undefined for exponents beyond 2^40. */
  round(m: bigint, e: number): Real {
    this.#budget.spend(8 + this.bits / 32);
    if (m === 0n) return NIL;
    const excess = width(m) - this.bits;
    const kept: Real = excess > 0 ? { m: shift(m, -excess), e: e + excess } : { m, e };
    if (Math.abs(kept.e) > MAX_EXPONENT) throw new Undefined("magnitude out of range");
    return kept;
  }
  fromInteger(n: bigint): Real {
    return this.round(n, 0);
  }
  fromRational(r: Rational): Real {
    if (r.d === 1n) return this.fromInteger(r.n);
    const scale = this.bits + Math.max(0, bitLength(r.d) - bitLength(r.n)) + 2;
    return this.round(shift(r.n, scale) / r.d, -scale);
  }

  negate(x: Real): Real {
    return { m: -x.m, e: x.e };
  }
  add(x: Real, y: Real): Real {
    if (x.m === 0n) return y;
    if (y.m === 0n) return x;
    const [high, low] = x.e >= y.e ? [x, y] : [y, x];
    const gap = high.e - low.e;
    if (gap > 2 * this.bits + 8) return high;
    return this.round((high.m << BigInt(gap)) + low.m, low.e);
  }
  subtract(x: Real, y: Real): Real {
    return this.add(x, this.negate(y));
  }
  multiply(x: Real, y: Real): Real {
    return this.round(x.m * y.m, x.e + y.e);
  }
  divide(x: Real, y: Real): Real {
    if (y.m === 0n) throw new Undefined("division by zero");
    const scale = Math.max(0, this.bits + 2 + width(y.m) - (x.m === 0n ? 0 : width(x.m)));
    return this.round((x.m << BigInt(scale)) / y.m, x.e - y.e - scale);
  }
  sign(x: Real): number {
    return x.m > 0n ? 1 : x.m < 0n ? -1 : 0;
  }
  compare(x: Real, y: Real): number {
    return this.sign(this.subtract(x, y));
  }
  sqrt(x: Real): Real {
    if (x.m === 0n) return NIL;
    let scale = Math.max(0, 2 * this.bits + 4 - width(x.m));
    if ((x.e - scale) % 2 !== 0) scale++;
    this.#budget.spend(this.bits / 8);
    return this.round(squareRoot(x.m << BigInt(scale)), (x.e - scale) / 2);
  }
  /** Nearest integer and the distance to it. */
  nearest(x: Real): { integer: bigint; rest: Real } {
    if (x.e >= 0) {
      if (x.e > 4096) throw new BudgetExceeded("integer too large");
      return { integer: shift(x.m, x.e), rest: NIL };
    }
    if (-x.e > 8 * this.bits) return { integer: 0n, rest: x };
    const half = 1n << BigInt(-x.e - 1);
    const integer = (x.m + half) >> BigInt(-x.e);
    return { integer, rest: this.round(x.m - (integer << BigInt(-x.e)), x.e) };
  }
}
