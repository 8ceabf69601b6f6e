import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";

/** Value of digits joined by + - * / %, with products first; undefined if an intermediate result is not an integer. */
function computed(digits: readonly number[], operators: readonly string[]): number | undefined {
  let sum = 0;
  let sign = 1;
  let product = digits[0]!;
  for (const [i, operator] of operators.entries()) {
    const digit = digits[i + 1]!;
    if (operator === "*") product *= digit;
    else if (operator === "+" || operator === "-") {
      sum += sign * product;
      sign = operator === "+" ? 1 : -1;
      product = digit;
    } else {
      if (digit === 0 || (operator === "/" && product % digit !== 0)) return undefined;
      product = operator === "/" ? product / digit : product % digit;
    }
  }
  return sum + sign * product;
}

function drawSum(random: CounterRandom, count: number) {
  for (;;) {
    const digits = Array.from({ length: count }, () => random.int(0, 9));
    const operators = Array.from({ length: count - 1 }, () => random.choice("+-*/%"));
    const value = computed(digits, operators);
    if (value !== undefined) return { digits, operators, value };
  }
}

/** An equation with some digits hidden; any digits that make it true are a solution. */
export const mathPath: PuzzleGenerator = {
  task: "math_path",
  measure: "hidden digits",

  draw(random, level) {
    const count = atLevel([3, 5, 7, 9], level);
    const { digits, operators, value } = drawSum(random, count);
    const places = digits.map((_, i) => i);
    const hidden = new Set(random.sample(places, atLevel([1, 2, 4, 6], level)));
    const write = (digit: (i: number) => string) =>
      `${places.map((i) => digit(i) + (operators[i] ?? "")).join("")} = ${value}`;
    const query = write((i) => (hidden.has(i) ? "?" : `${digits[i]}`));
    const full = write((i) => `${digits[i]}`);
    return {
      question: `Every ? in this equation stands for a digit from 0 to 9:\n\n${query}\n\n* / % (remainder) go before + and -, and / is exact. Find digits that make it true and write the whole equation between [[ and ]], like [[2+4*3-4 = 10]].`,
      solution: `[[${full}]]`,
      answer: full,
      metadata: { ref_expr: full, query_expr: query, n: count },
      effort: hidden.size,
    };
  },
};
