import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";

const SYMBOLS = "@#&~";
/**
 * Formulas with a larger intermediate value are drawn again: the puzzle is about rules, not about long
 * multiplication.
 */
const LARGEST = 1_000_000;

interface Operator {
  readonly symbol: string;
  /** Definition of the operator on a and b; absent for common operators. */
  readonly rule?: string;
  compute(a: number, b: number): number;
}

interface Formula {
  readonly text: string;
  readonly value: number;
  readonly largest: number;
}

const KNOWN: readonly Operator[] = [
  { symbol: "+", compute: (a, b) => a + b },
  { symbol: "-", compute: (a, b) => a - b },
  { symbol: "*", compute: (a, b) => a * b },
];

function newOperator(random: CounterRandom, symbol: string): Operator {
  const [p, q, r] = [random.int(2, 5), random.int(1, 4), random.int(1, 9)];
  return random.choice<Operator>([
    { symbol, rule: `${p}*a - ${q}*b + ${r}`, compute: (a, b) => p * a - q * b + r },
    { symbol, rule: `a*b - ${p}*a + ${r}`, compute: (a, b) => a * b - p * a + r },
    {
      symbol,
      rule: `a + ${p}*b if a > b, else ${q}*b - a`,
      compute: (a, b) => (a > b ? a + p * b : q * b - a),
    },
    { symbol, rule: `the larger of ${p}*a and b, minus ${r}`, compute: (a, b) => Math.max(p * a, b) - r },
  ]);
}

function formula(random: CounterRandom, operators: readonly Operator[], count: number): Formula {
  if (count === 0) {
    const value = random.int(1, 9);
    return { text: `${value}`, value, largest: value };
  }
  const onLeft = random.int(0, count - 1);
  const left = formula(random, operators, onLeft);
  const right = formula(random, operators, count - 1 - onLeft);
  const operator = random.choice(operators);
  const value = operator.compute(left.value, right.value);
  const wrap = ({ text }: Formula) => (text.length > 1 ? `(${text})` : text);
  return {
    text: `${wrap(left)} ${operator.symbol} ${wrap(right)}`,
    value,
    largest: Math.max(Math.abs(value), left.largest, right.largest),
  };
}

/** The value of an expression with operators defined on the spot, every part in parentheses. */
export const operation: PuzzleGenerator = {
  task: "operation",
  measure: "operations",

  draw(random, level) {
    const symbols = random.sample([...SYMBOLS], atLevel([1, 1, 2, 3], level));
    const made = symbols.map((symbol) => newOperator(random, symbol));
    const count = atLevel([2, 3, 5, 8], level);
    let drawn: Formula;
    do {
      drawn = formula(random, [...made, ...made, ...KNOWN], count);
    } while (drawn.largest > LARGEST || !symbols.some((symbol) => drawn.text.includes(symbol)));
    const rules = made.map(({ symbol, rule }) => `a ${symbol} b is ${rule}.`);
    return {
      question: `New operators for integers:\n\n${rules.join("\n")}\n\nWhat is the value of ${drawn.text}? Put it into \\boxed{}.`,
      solution: `\\boxed{${drawn.value}}`,
      answer: `${drawn.value}`,
      metadata: { expression: drawn.text, result: drawn.value },
      effort: count,
    };
  },
};
