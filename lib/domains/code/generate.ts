import { atLevel, type Family } from "../../data/family.ts";
import type { CounterRandom } from "../../random.ts";

const DESCRIBED_INPUTS = [-3, 0, 2, 5, 7];
/**
 * Range of the third input that a question shows, besides 0 and 1. With a fixed third input there would be only as
 * many questions as functions, 90 in all: training would memorise 79 of them, and held-out questions would ask for
 * unseen functions.
 */
const THIRD_INPUTS = [2, 4, 5, 7, 8, 9];
const HIDDEN_INPUTS = [-2, 3, 6, 10];

interface Operation {
  readonly described: string;
  readonly apply: (value: number) => number;
  readonly write: (expression: string) => string;
}

const grouped = (expression: string) => (expression === "x" ? expression : `(${expression})`);

function drawOperation(random: CounterRandom, first: boolean): Operation {
  const name = random.choice(["add", "subtract", "double", "triple", "negate", ...(first ? ["square"] : [])]);
  const n = random.int(1, 9);
  switch (name) {
    case "add":
      return { described: `add ${n}`, apply: (v) => v + n, write: (e) => `${e}+${n}` };
    case "subtract":
      return { described: `subtract ${n}`, apply: (v) => v - n, write: (e) => `${e}-${n}` };
    case "double":
      return { described: name, apply: (v) => v * 2, write: (e) => `${grouped(e)}*2` };
    case "triple":
      return { described: name, apply: (v) => v * 3, write: (e) => `${grouped(e)}*3` };
    case "square":
      return { described: name, apply: (v) => v * v, write: () => "x*x" };
    default:
      return { described: name, apply: (v) => 0 - v, write: (e) => `-${grouped(e)}` };
  }
}

/** Problems that describe a function in words, to be written as one expression in x and judged on inputs that are not shown. */
export const describedFunction: Family = {
  name: "desc",
  domain: "code",
  verifier: "expression",
  draw(random, level) {
    const operations = Array.from({ length: atLevel([1, 2, 2, 3], level) }, (_, i) =>
      drawOperation(random, i === 0),
    );
    const steps: string[] = [];
    let expression = "x";
    for (const operation of operations) {
      expression = operation.write(expression);
      steps.push(expression);
    }
    const run = (input: number) => operations.reduce((value, operation) => operation.apply(value), input);
    return {
      question: `f(x): ${operations.map((operation) => operation.described).join(" then ")}`,
      answer: expression,
      steps: steps.join(" "),
      reference: { inputs: DESCRIBED_INPUTS, outputs: DESCRIBED_INPUTS.map(run) },
    };
  },
};

/** A linear function given by three of its values; the hidden inputs differ from the shown ones. */
export const inputOutput: Family = {
  name: "io",
  domain: "code",
  verifier: "expression",
  draw(random, level) {
    const a = random.int(1, atLevel([2, 3, 5, 9], level));
    const b = random.int(0, atLevel([4, 6, 9, 9], level));
    const run = (x: number) => a * x + b;
    const shown = [0, 1, random.choice(THIRD_INPUTS)];
    return {
      question: `f(x)= ${shown.map((x) => `${x}:${run(x)}`).join(" ")}`,
      answer: `${a}*x+${b}`,
      steps: `b=${b} a=${run(1)}-${b}=${a}`,
      reference: { inputs: HIDDEN_INPUTS, outputs: HIDDEN_INPUTS.map(run) },
    };
  },
};
