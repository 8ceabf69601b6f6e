import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Three numbers with a + b = c, or their letters. */
type Sum<T> = readonly [a: T, b: T, c: T];

/** Number of digit assignments with a + b = c, counted up to two. Searches column by column. */
function countSolutions(words: Sum<string>): number {
  const letters = [...new Set(words.join(""))];
  const codes = words.map((word) => Array.from(word, (letter) => letters.indexOf(letter)).reverse());
  const lowest = letters.map((letter) => (words.some((word) => word.startsWith(letter)) ? 1 : 0));
  const digitOf = new Int8Array(letters.length).fill(-1);
  const columns = words[2].length;
  let taken = 0; // one bit per digit
  let found = 0;

  const column = (at: number, carry: number): void => {
    if (at < columns) row(at, 0, carry);
    else if (carry === 0) found++;
  };
  const accept = (at: number, index: number, total: number, digit: number): void => {
    if (index < 2) row(at, index + 1, total + digit);
    else if (total % 10 === digit) column(at + 1, Math.floor(total / 10));
  };
  /** Tries every digit for the letter of a, b or c in a column; `total` is the carry plus the digits above. */
  const row = (at: number, index: number, total: number): void => {
    const letter = codes[index]![at];
    const known = letter === undefined ? 0 : digitOf[letter]!;
    if (letter === undefined || known >= 0) {
      accept(at, index, total, known);
      return;
    }
    const only = index === 2 ? total % 10 : -1; // the other digits of the column determine the sum's digit
    for (let digit = only < 0 ? lowest[letter]! : only; digit <= (only < 0 ? 9 : only); digit++) {
      if (taken & (1 << digit) || digit < lowest[letter]! || found > 1) continue;
      digitOf[letter] = digit;
      taken |= 1 << digit;
      accept(at, index, total, digit);
      taken &= ~(1 << digit);
      digitOf[letter] = -1;
    }
  };
  column(0, 0);
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
