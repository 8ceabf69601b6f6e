import { atLevel, type Family } from "../../data/family.ts";

const CHAIN_MODULUS = 5;

/** A chain of 1, 2, 4 or 6 additions and multiplications mod 5: forty facts in all, few enough for a small model to learn. */
export const chain: Family = {
  name: "chain",
  domain: "math",
  verifier: "residue",
  draw(random, level) {
    const start = random.int(0, CHAIN_MODULUS - 1);
    const operations: string[] = [];
    const steps: string[] = [];
    let value = start;
    for (let i = 0; i < atLevel([1, 2, 4, 6], level); i++) {
      const operator = random.choice("+*");
      const operand = random.int(1, CHAIN_MODULUS - 1);
      const next = (operator === "+" ? value + operand : value * operand) % CHAIN_MODULUS;
      operations.push(`${operator}${operand}`);
      steps.push(`${value}${operator}${operand}=${next}`);
      value = next;
    }
    return {
      question: `Apply to ${start}: ${operations.join(" ")} mod ${CHAIN_MODULUS}`,
      answer: String(value),
      steps: steps.join(" "),
      reference: { value, modulus: CHAIN_MODULUS },
    };
  },
};

/** A linear congruence ax + b = c over a prime modulus (3 or 5), solved by trying 0, 1, ... */
export const congruence: Family = {
  name: "cong",
  domain: "math",
  verifier: "residue",
  draw(random, level) {
    const modulus = atLevel([3, 3, 5, 5], level);
    const a = random.int(1, modulus - 1);
    const b = random.int(0, modulus - 1);
    const solution = random.int(0, modulus - 1);
    const leftSide = (x: number) => (a * x + b) % modulus;
    const tried = Array.from({ length: solution + 1 }, (_, x) => `${x}:${leftSide(x)}`);
    return {
      question: `Solve ${a}x+${b}=${leftSide(solution)} mod ${modulus}`,
      answer: String(solution),
      steps: tried.join(" "),
      reference: { value: solution, modulus },
    };
  },
};
