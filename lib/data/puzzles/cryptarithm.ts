import type { CounterRandom } from "../../random.ts";
import { atLevel } from "../procedural/family.ts";
import type { PuzzleGenerator } from "./puzzle.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Three numbers with a + b = c, or their letters. */
type Sum<T> = readonly [a: T, b: T, c: T];

/** How many ways there are to give the letters digits so that a + b = c, counted up to two; column by column. */
function countSolutions(words: Sum<string>): number {
  const digitOf = new Map<string, number>();
  const leading = new Set(words.map((word) => word[0]!));
  const columns = words[2].length;
  let found = 0;

  /** Gives the letters of a column their digits, one after the other: those of a, of b, then of c. */
  const place = (column: number, row: number, carry: number, total: number): void => {
    if (found > 1) return;
    if (column === columns) {
      if (carry === 0) found++;
      return;
    }
    const letter = words[row]!.at(-1 - column);
    const next = (digit: number) =>
      row < 2
        ? place(column, row + 1, carry, total + digit)
        : (total + carry) % 10 === digit && place(column + 1, 0, Math.floor((total + carry) / 10), 0);
    if (letter === undefined) {
      next(0);
      return;
    }
    const known = digitOf.get(letter);
    if (known !== undefined) {
      next(known);
      return;
    }
    const taken = new Set(digitOf.values());
    for (let digit = leading.has(letter) ? 1 : 0; digit <= 9; digit++) {
      if (taken.has(digit)) continue;
      digitOf.set(letter, digit);
      next(digit);
      digitOf.delete(letter);
    }
  };
  place(0, 0, 0, 0);
  return found;
}

function drawSum(random: CounterRandom, digits: number): Sum<number> {
  const low = 10 ** (digits - 1);
  const a = random.int(low, 10 * low - 1);
  const b = random.int(Math.floor(low / 10) + 1, 10 * low - 1);
  return [a, b, a + b];
}

/** A sum or difference in letters, with one solution, proved by trying all digits. */
export const cryptarithm: PuzzleGenerator = {
  task: "cryptarithm",
  measure: "digits in all numbers",

  draw(random, level) {
    const size = atLevel([2, 3, 4, 5], level);
    let numbers: Sum<number>;
    let words: Sum<string>;
    do {
      numbers = drawSum(random, size);
      const letters = random.sample([...LETTERS], 10);
      words = numbers.map((number) =>
        [...`${number}`].map((digit) => letters[Number(digit)]).join(""),
      ) as unknown as Sum<string>;
    } while (countSolutions(words) !== 1);
    const minus = random.next() < 0.5;
    const write = ([a, b, c]: Sum<number | string>) => (minus ? `${c} - ${a} = ${b}` : `${a} + ${b} = ${c}`);
    const [a, b, c] = words;
    return {
      question: `In ${write(words)} every letter stands for a digit: the same letter for the same digit, different letters for different digits, and no number starts with 0. Find the equation in digits. End with a line of this form: The answer is 12 + 34 = 46.`,
      solution: `The answer is ${write(numbers)}.`,
      answer: write(numbers),
      metadata: {
        letter_words: minus ? [c, a, b] : [a, b, c],
        operators: [minus ? "-" : "+"],
        num_letter: new Set(words.join("")).size,
      },
      effort: words.join("").length,
    };
  },
};
