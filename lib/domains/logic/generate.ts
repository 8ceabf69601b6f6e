import { atLevel, type Family } from "../../data/family.ts";

/** Truth tables over the four assignments (a, b) = 00, 01, 10, 11 as 4-bit masks, first assignment highest. */
const VARIABLES: Readonly<Record<string, number>> = { a: 0b0011, b: 0b0101 };
const ALL = 0b1111;
const NEGATION_RATE = 0.4;

const bits = (table: number) => table.toString(2).padStart(4, "0");

function combine(left: number, operator: string, right: number): number {
  if (operator === "&") return left & right;
  return operator === "|" ? left | right : left ^ right;
}

/** The truth table of a formula of 1, 1, 2 or 3 connectives; four bits, so that a guess is right once in 16. */
export const truthTable: Family = {
  name: "bool",
  domain: "logic",
  verifier: "truth-table",
  draw(random, level) {
    let formula: string = random.choice("ab");
    let table = VARIABLES[formula]!;
    const steps: string[] = [];
    for (let i = 0; i < atLevel([1, 1, 2, 3], level); i++) {
      const operator = random.choice("&|^");
      const variable = random.choice("ab");
      const negated = random.next() < NEGATION_RATE;
      const right = negated ? VARIABLES[variable]! ^ ALL : VARIABLES[variable]!;
      const next = combine(table, operator, right);
      steps.push(`${bits(table)}${operator}${bits(right)}=${bits(next)}`);
      formula = `${i === 0 ? formula : `(${formula})`}${operator}${negated ? "!" : ""}${variable}`;
      table = next;
    }
    return {
      question: `Truth table of ${formula}`,
      answer: bits(table),
      steps: steps.join(" "),
      reference: { table: bits(table) },
    };
  },
};

const SYMBOLS = "1234";
let squares: readonly (readonly string[])[] | undefined;

/** All 576 Latin squares of order 4, rows as strings, built once row by row without clashes in a column. */
function latinSquares(): readonly (readonly string[])[] {
  if (squares) return squares;
  const permutations = [...SYMBOLS].reduce<string[]>(
    (made) => made.flatMap((head) => [...SYMBOLS].filter((s) => !head.includes(s)).map((s) => head + s)),
    [""],
  );
  const clash = (p: string, q: string) => [...p].some((symbol, column) => symbol === q[column]);
  squares = [0, 1, 2, 3].reduce<string[][]>(
    (partial) =>
      partial.flatMap((rows) =>
        permutations.filter((row) => !rows.some((above) => clash(row, above))).map((row) => [...rows, row]),
      ),
    [[]],
  );
  return squares;
}

/** A Latin square of order 4 with 1, 1, 2 or 3 blanks in different rows; the answer lists them row by row. */
export const latinSquare: Family = {
  name: "latin",
  domain: "logic",
  verifier: "latin-square",
  draw(random, level) {
    const square = random.choice(latinSquares());
    const blankRows = random.sample([0, 1, 2, 3], atLevel([1, 1, 2, 3], level)).sort();
    const rows = [...square];
    const steps: string[] = [];
    let answer = "";
    for (const row of blankRows) {
      const column = random.int(0, 3);
      const full = square[row]!;
      const rest = full.slice(0, column) + full.slice(column + 1);
      rows[row] = `${full.slice(0, column)}_${full.slice(column + 1)}`;
      steps.push(`${rest}:${full[column]}`);
      answer += full[column];
    }
    return { question: `Fill ${rows.join("/")}`, answer, steps: steps.join(" "), reference: { rows } };
  },
};
