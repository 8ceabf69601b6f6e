import { atLevel } from "../../../../data/family.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";

const TARGET = 24;
const LARGEST = 13;

/** A fraction with its expression; numerators and denominators stay far below 2^53. */
interface Term {
  readonly n: number;
  readonly d: number;
  readonly text: string;
}

function combinations(a: Term, b: Term): Term[] {
  const terms = [
    { n: a.n * b.d + b.n * a.d, d: a.d * b.d, text: `(${a.text}+${b.text})` },
    { n: a.n * b.n, d: a.d * b.d, text: `(${a.text}*${b.text})` },
    { n: a.n * b.d - b.n * a.d, d: a.d * b.d, text: `(${a.text}-${b.text})` },
    { n: b.n * a.d - a.n * b.d, d: a.d * b.d, text: `(${b.text}-${a.text})` },
  ];
  if (b.n !== 0) terms.push({ n: a.n * b.d, d: a.d * b.n, text: `(${a.text}/${b.text})` });
  if (a.n !== 0) terms.push({ n: b.n * a.d, d: b.d * a.n, text: `(${b.text}/${a.text})` });
  return terms;
}

/** Finds an expression of all terms that equals the target by trying every pair with every operator; exact. */
function solve(terms: readonly Term[]): string | undefined {
  if (terms.length === 1) {
    const [{ n, d, text }] = terms as [Term];
    return n === TARGET * d ? text : undefined;
  }
  for (let i = 0; i < terms.length; i++) {
    for (let j = i + 1; j < terms.length; j++) {
      const rest = terms.filter((_, k) => k !== i && k !== j);
      for (const combined of combinations(terms[i]!, terms[j]!)) {
        const found = solve([combined, ...rest]);
        if (found !== undefined) return found;
      }
    }
  }
  return undefined;
}

/** Numbers from which the four operations make 24, each used once; a solution is found by search. */
export const mathador: PuzzleGenerator = {
  task: "mathador",
  measure: "numbers",

  draw(random, level) {
    const count = atLevel([3, 4, 5, 6], level);
    let numbers: number[];
    let found: string | undefined;
    do {
      numbers = Array.from({ length: count }, () => random.int(1, LARGEST));
      found = solve(numbers.map((n) => ({ n, d: 1, text: `${n}` })));
    } while (found === undefined);
    return {
      question: `Combine the numbers ${numbers.join(", ")} with +, -, *, / and parentheses to get ${TARGET}. Use each number exactly once. Put one expression and nothing else into a Python code block:\n\`\`\`python\n(1+2)*3\n\`\`\``,
      solution: `\`\`\`python\n${found}\n\`\`\``,
      answer: "",
      metadata: { numbers, operators: ["+", "-", "*", "/"], result: TARGET },
      effort: count,
    };
  },
};
