import * as q from "../../math/rational.ts";

/** The kind of numbers in which an expression is computed, and the available operators. Throws if a value does not exist. */
export interface Arithmetic<T> {
  integer(digits: string): T;
  negate(a: T): T;
  readonly operators: Readonly<Record<string, (a: T, b: T) => T>>;
}

const MAX_CHARS = 2000;
const MAX_DEPTH = 100;

const floored = (a: q.Rational, b: q.Rational): q.Rational => q.integer(q.floor(q.divide(a, b)));

/** Exact fractions; `%` has the sign of its right operand. Supports neither `//` nor `**`. */
export const EXACT: Arithmetic<q.Rational> = {
  integer: (digits) => q.integer(BigInt(digits)),
  negate: q.negate,
  operators: {
    "+": q.add,
    "-": q.subtract,
    "*": q.multiply,
    "/": q.divide,
    "%": (a, b) => q.subtract(a, q.multiply(b, floored(a, b))),
  },
};

function dividing(compute: (a: number, b: number) => number) {
  return (a: number, b: number): number => {
    if (b === 0) throw new q.Undefined("division by zero");
    return compute(a, b);
  };
}

/** Arithmetic of Python's int and float, except that integers beyond 2^53 are rounded. */
export const PYTHON: Arithmetic<number> = {
  integer: Number,
  negate: (a) => -a,
  operators: {
    "+": (a, b) => a + b,
    "-": (a, b) => a - b,
    "*": (a, b) => a * b,
    "/": dividing((a, b) => a / b),
    "%": dividing((a, b) => a - b * Math.floor(a / b)),
    "//": dividing((a, b) => Math.floor(a / b)),
    "**": (a, b) => a ** b,
  },
};

const PRECEDENCE: readonly (readonly string[])[] = [
  ["+", "-"],
  ["*", "/", "//", "%"],
];

class NotArithmetic extends Error {}

/**
 * Value of an expression of integers, operators and parentheses by Python's grammar; undefined where the text is
 * something else or its value does not exist. Lines break inside parentheses only; no number starts with a zero.
 * Bounded: 2,000 characters, 100 levels. Nothing is evaluated as code.
 */
export function evaluate<T>(text: string, arithmetic: Arithmetic<T>): T | undefined {
  if (text.length > MAX_CHARS) return undefined;
  try {
    const reader = new Reader(text, arithmetic);
    const value = reader.chain(0);
    return reader.atEnd() ? value : undefined;
  } catch (error) {
    if (error instanceof NotArithmetic || error instanceof q.Undefined || error instanceof q.BudgetExceeded)
      return undefined;
    throw error;
  }
}

class Reader<T> {
  readonly #text: string;
  readonly #arithmetic: Arithmetic<T>;
  #at = 0;
  #depth = 0;
  /** Number of open parentheses; at 0, a line break ends the expression. */
  #open = 0;

  constructor(text: string, arithmetic: Arithmetic<T>) {
    this.#text = text.trim();
    this.#arithmetic = arithmetic;
  }

  atEnd = (): boolean => this.#take(/$/y) !== undefined;

  /** Parses terms joined by operators of one precedence, left-associative. */
  chain(level: number): T {
    const operators = PRECEDENCE[level];
    if (operators === undefined) return this.#signed();
    let value = this.chain(level + 1);
    for (
      let operator = this.#operator(operators);
      operator !== undefined;
      operator = this.#operator(operators)
    ) {
      value = this.#arithmetic.operators[operator]!(value, this.chain(level + 1));
    }
    return value;
  }

  /** A sign binds less tightly than a power: -2**2 is -4, and 2**-1 is a half. */
  #signed(): T {
    if (++this.#depth > MAX_DEPTH) throw new NotArithmetic("too deep");
    const sign = this.#take(/[+-]/y);
    const value = sign === undefined ? this.#power() : this.#signed();
    this.#depth--;
    return sign === "-" ? this.#arithmetic.negate(value) : value;
  }

  #power(): T {
    const base = this.#atom();
    return this.#operator(["**"]) === undefined
      ? base
      : this.#arithmetic.operators["**"]!(base, this.#signed());
  }

  #atom(): T {
    const digits = this.#take(/\d+/y);
    if (digits !== undefined) {
      if (/^0+[1-9]/.test(digits)) throw new NotArithmetic("leading zero");
      return this.#arithmetic.integer(digits);
    }
    if (this.#take(/\(/y) === undefined) throw new NotArithmetic("no operand");
    this.#open++;
    const value = this.chain(0);
    if (this.#take(/\)/y) === undefined) throw new NotArithmetic("unclosed");
    this.#open--;
    return value;
  }

  #operator(wanted: readonly string[]): string | undefined {
    const start = this.#at;
    const operator = this.#take(/\*\*|\/\/|[-+*/%]/y);
    if (operator === undefined) return undefined;
    if (wanted.includes(operator) && Object.hasOwn(this.#arithmetic.operators, operator)) return operator;
    this.#at = start;
    return undefined;
  }

  #take(token: RegExp): string | undefined {
    const blanks = this.#open > 0 ? /[ \t\f\r\n]*/y : /[ \t\f]*/y;
    blanks.lastIndex = this.#at;
    blanks.exec(this.#text);
    token.lastIndex = blanks.lastIndex;
    const match = token.exec(this.#text);
    if (match === null) return undefined;
    this.#at = token.lastIndex;
    return match[0];
  }
}
