import { angle, circle, exp, ln, pi } from "./elementary.ts";
import { Undefined } from "./rational.ts";
import { NIL, type Real, type RealArithmetic, top } from "./real.ts";

export interface Complex {
  readonly re: Real;
  readonly im: Real;
}

const UNIT: Real = { m: 1n, e: 0 };
export const COMPLEX_ZERO: Complex = { re: NIL, im: NIL };
export const COMPLEX_ONE: Complex = { re: UNIT, im: NIL };
export const IMAGINARY_UNIT: Complex = { re: NIL, im: UNIT };

export const real = (re: Real): Complex => ({ re, im: NIL });
export const isReal = (z: Complex): boolean => z.im.m === 0n;
export const isZero = (z: Complex): boolean => z.re.m === 0n && z.im.m === 0n;
/** Exponent of the larger part. */
export const magnitude = (z: Complex): number => Math.max(top(z.re), top(z.im));

/** Complex arithmetic with principal branches; real inputs with real results stay exactly real. */
export class ComplexArithmetic {
  readonly r: RealArithmetic;
  constructor(reals: RealArithmetic) {
    this.r = reals;
  }

  negate(z: Complex): Complex {
    return { re: this.r.negate(z.re), im: this.r.negate(z.im) };
  }
  add(a: Complex, b: Complex): Complex {
    return { re: this.r.add(a.re, b.re), im: this.r.add(a.im, b.im) };
  }
  subtract(a: Complex, b: Complex): Complex {
    return this.add(a, this.negate(b));
  }
  multiply(a: Complex, b: Complex): Complex {
    const r = this.r;
    if (isReal(a) && isReal(b)) return real(r.multiply(a.re, b.re));
    return {
      re: r.subtract(r.multiply(a.re, b.re), r.multiply(a.im, b.im)),
      im: r.add(r.multiply(a.re, b.im), r.multiply(a.im, b.re)),
    };
  }
  inverse(z: Complex): Complex {
    const r = this.r;
    if (isReal(z)) return real(r.divide(UNIT, z.re));
    const norm = this.#norm(z);
    return { re: r.divide(z.re, norm), im: r.divide(r.negate(z.im), norm) };
  }
  divide(a: Complex, b: Complex): Complex {
    return isReal(a) && isReal(b) ? real(this.r.divide(a.re, b.re)) : this.multiply(a, this.inverse(b));
  }
  #norm(z: Complex): Real {
    return this.r.add(this.r.multiply(z.re, z.re), this.r.multiply(z.im, z.im));
  }
  abs(z: Complex): Real {
    if (isReal(z)) return { m: z.re.m < 0n ? -z.re.m : z.re.m, e: z.re.e };
    return this.r.sqrt(this.#norm(z));
  }
  exp(z: Complex): Complex {
    const size = exp(this.r, z.re);
    if (isReal(z)) return real(size);
    const [c, s] = circle(this.r, z.im);
    return { re: this.r.multiply(size, c), im: this.r.multiply(size, s) };
  }
  ln(z: Complex): Complex {
    return { re: ln(this.r, this.abs(z)), im: angle(this.r, z.im, z.re) };
  }
  sqrt(z: Complex): Complex {
    if (!isReal(z)) return this.power(z, real({ m: 1n, e: -1 }));
    const root = this.r.sqrt({ m: z.re.m < 0n ? -z.re.m : z.re.m, e: z.re.e });
    return z.re.m < 0n ? { re: NIL, im: root } : real(root);
  }

  /** z^n by squaring; negative n inverts. */
  integerPower(z: Complex, n: bigint): Complex {
    if (n < 0n) {
      if (isZero(z)) throw new Undefined("division by zero");
      return this.inverse(this.integerPower(z, -n));
    }
    let result = COMPLEX_ONE;
    let square = z;
    for (let k = n; k > 0n; k >>= 1n) {
      if (k & 1n) result = this.multiply(result, square);
      if (k > 1n) square = this.multiply(square, square);
    }
    return result;
  }
  /** Principal value of z^w. */
  power(z: Complex, w: Complex): Complex {
    if (isReal(w) && w.re.e >= 0 && top(w.re) < 64) return this.integerPower(z, w.re.m << BigInt(w.re.e));
    if (isZero(z)) {
      if (isReal(w) && w.re.m > 0n) return COMPLEX_ZERO;
      throw new Undefined("power of zero");
    }
    if (isReal(w) && w.re.e === -1 && w.re.m === 1n && isReal(z)) return this.sqrt(z);
    return this.exp(this.multiply(w, this.ln(z)));
  }

  sin(z: Complex): Complex {
    if (isReal(z)) return real(circle(this.r, z.re)[1]);
    const [up, down] = this.#exponentials(z);
    return this.multiply({ re: NIL, im: { m: -1n, e: -1 } }, this.subtract(up, down));
  }
  cos(z: Complex): Complex {
    if (isReal(z)) return real(circle(this.r, z.re)[0]);
    const [up, down] = this.#exponentials(z);
    return this.multiply(real({ m: 1n, e: -1 }), this.add(up, down));
  }
  /** Returns e^(iz) and e^(-iz). */
  #exponentials(z: Complex): readonly [Complex, Complex] {
    const turned = this.multiply(IMAGINARY_UNIT, z);
    return [this.exp(turned), this.exp(this.negate(turned))];
  }
  sinh(z: Complex): Complex {
    return this.multiply(real({ m: 1n, e: -1 }), this.subtract(this.exp(z), this.exp(this.negate(z))));
  }
  cosh(z: Complex): Complex {
    return this.multiply(real({ m: 1n, e: -1 }), this.add(this.exp(z), this.exp(this.negate(z))));
  }

  asin(z: Complex): Complex {
    const rest = this.sqrt(this.subtract(COMPLEX_ONE, this.multiply(z, z)));
    if (isReal(z) && isReal(rest)) return real(angle(this.r, z.re, rest.re));
    const inner = this.add(this.multiply(IMAGINARY_UNIT, z), rest);
    return this.multiply(this.negate(IMAGINARY_UNIT), this.ln(inner));
  }
  acos(z: Complex): Complex {
    return this.subtract(real(this.#quarterTurn()), this.asin(z));
  }
  atan(z: Complex): Complex {
    if (isReal(z)) return real(angle(this.r, z.re, UNIT));
    const turned = this.multiply(IMAGINARY_UNIT, z);
    const difference = this.subtract(
      this.ln(this.subtract(COMPLEX_ONE, turned)),
      this.ln(this.add(COMPLEX_ONE, turned)),
    );
    return this.multiply({ re: NIL, im: { m: 1n, e: -1 } }, difference);
  }
  asinh(z: Complex): Complex {
    return this.ln(this.add(z, this.sqrt(this.add(this.multiply(z, z), COMPLEX_ONE))));
  }
  acosh(z: Complex): Complex {
    const roots = this.multiply(
      this.sqrt(this.add(z, COMPLEX_ONE)),
      this.sqrt(this.subtract(z, COMPLEX_ONE)),
    );
    return this.ln(this.add(z, roots));
  }
  atanh(z: Complex): Complex {
    const ratio = this.divide(this.add(COMPLEX_ONE, z), this.subtract(COMPLEX_ONE, z));
    return this.multiply(real({ m: 1n, e: -1 }), this.ln(ratio));
  }
  #quarterTurn(): Real {
    const turn = pi(this.r);
    return { m: turn.m, e: turn.e - 1 };
  }
}
