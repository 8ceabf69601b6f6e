import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";

const LETTERS = "ABCDEF";

const FACTS: readonly (readonly [statement: string, holds: boolean])[] = [
  ["A week has seven days.", true],
  ["Water is made of hydrogen and oxygen.", true],
  ["The Sun is a star.", true],
  ["A triangle has three sides.", true],
  ["The Nile flows through Africa.", true],
  ["Whales are mammals.", true],
  ["Spiders have six legs.", false],
  ["The Moon is larger than the Earth.", false],
  ["Paris is the capital of Spain.", false],
  ["Ice is heavier than liquid water of the same volume.", false],
  ["A minute has one hundred seconds.", false],
  ["Penguins live at the North Pole.", false],
];

const COMPARISONS: readonly (readonly [words: string, holds: (a: number, b: number) => boolean])[] = [
  ["is greater than", (a, b) => a > b],
  ["is less than", (a, b) => a < b],
  ["is less than or equal to", (a, b) => a <= b],
  ["equals", (a, b) => a === b],
];

interface Statement {
  readonly text: string;
  readonly holds: boolean;
  readonly connectives: number;
}

function sum(random: CounterRandom): { text: string; value: number } {
  const [a, b, c] = [random.int(-9, 9), random.int(-9, 9), random.int(-9, 9)];
  return random.next() < 0.5
    ? { text: `${a} * ${b} + ${c}`, value: a * b + c }
    : { text: `${a} - ${b} * ${c}`, value: a - b * c };
}

function leaf(random: CounterRandom): Statement {
  const kind = random.int(0, 3);
  if (kind === 0) {
    const holds = random.next() < 0.5;
    return { text: holds ? "True" : "False", holds, connectives: 0 };
  }
  if (kind === 1) {
    const [text, holds] = random.choice(FACTS);
    return { text, holds, connectives: 0 };
  }
  const [words, compare] = random.choice(COMPARISONS);
  const [left, right] = [sum(random), sum(random)];
  const holds = compare(left.value, right.value);
  return { text: `(${left.text}) ${words} (${right.text})`, holds, connectives: 0 };
}

/** A statement with exactly `connectives` connectives; a quarter of the inner nodes are negations. */
function statement(random: CounterRandom, connectives: number): Statement {
  if (connectives === 0) return leaf(random);
  if (random.next() < 0.25) {
    const { text, holds } = statement(random, connectives - 1);
    return { text: `not (${text})`, holds: !holds, connectives };
  }
  const onLeft = random.int(0, connectives - 1);
  const [left, right] = [statement(random, onLeft), statement(random, connectives - 1 - onLeft)];
  const and = random.next() < 0.5;
  const holds = and ? left.holds && right.holds : left.holds || right.holds;
  return { text: `(${left.text}) ${and ? "and" : "or"} (${right.text})`, holds, connectives };
}

/** Asks which of several statements, joined by and, or, not, hold. At least one holds. */
export const booleanExpressions: PuzzleGenerator = {
  task: "boolean_expressions",
  measure: "connectives in all options",

  draw(random, level) {
    const count = atLevel([3, 4, 5, 6], level);
    const connectives = atLevel([1, 2, 4, 7], level);
    let options: Statement[];
    do {
      options = Array.from({ length: count }, () => statement(random, connectives));
    } while (!options.some((option) => option.holds));
    const listed = options.map((option, i) => `${LETTERS[i]}. ${option.text}`);
    const answer = [...LETTERS].filter((_, i) => options[i]?.holds).join(",");
    return {
      question: `Which of these statements are true?\n\n${listed.join("\n")}\n\nGive the letters of all true statements, separated by commas, in \\boxed{}.`,
      solution: `\\boxed{${answer}}`,
      answer,
      metadata: null,
      effort: options.reduce((total, option) => total + option.connectives, 0),
    };
  },
};
