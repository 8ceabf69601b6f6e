import { expect, test } from "vitest";
import { isHeldOut } from "../../../lib/data/index.ts";
import { describedFunction, inputOutput } from "../../../lib/domains/code/generate.ts";
import { CounterRandom } from "../../../lib/random.ts";

// Interprets the description word by word and compares with the expression, which the test's own JavaScript engine
// evaluates. Deliberate faults (mutants) that these tests detect: no parentheses before *2, negate without
// parentheses, square after the first place, shown inputs reused as hidden ones.

interface Tests {
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

function follow(description: string, x: number): number {
  return description.split(" then ").reduce((value, phrase) => {
    const [verb, n] = phrase.split(" ") as [string, string | undefined];
    const by = Number(n);
    const meaning: Record<string, number> = {
      add: value + by,
      subtract: value - by,
      double: 2 * value,
      triple: 3 * value,
      square: value * value,
      negate: -value,
    };
    return meaning[verb]!;
  }, x);
}

/** Evaluates an expression of the generator under test in the test's own engine. */
const evaluate = (expression: string, x: number): number =>
  new Function("x", `return (${expression})`)(x) as number;

test.each([0, 1, 2, 3])("a described function at level %i means what its words say", (level) => {
  for (let i = 0; i < 300; i++) {
    const { question, answer, steps, reference } = describedFunction.draw(
      new CounterRandom(3, i, level),
      level,
    );
    const description = question.replace(/^f\(x\): /, "");
    const phrases = description.split(" then ");
    expect(phrases.length).toBe([1, 2, 2, 3][level]);
    expect(phrases.slice(1)).not.toContain("square");
    const { inputs, outputs } = reference as Tests;
    expect(inputs).toEqual([-3, 0, 2, 5, 7]);
    expect(outputs.map((y) => y + 0)).toEqual(inputs.map((x) => follow(description, x) + 0));
    expect(inputs.map((x) => evaluate(answer, x) + 0)).toEqual(outputs.map((y) => y + 0));
    for (const [k, step] of steps.split(" ").entries()) {
      const prefix = phrases.slice(0, k + 1).join(" then ");
      expect(evaluate(step, 4) + 0).toBe(follow(prefix, 4) + 0);
    }
  }
});

test.each([0, 1, 2, 3])(
  "an input-output function at level %i is the line through the shown points",
  (level) => {
    for (let i = 0; i < 300; i++) {
      const { question, answer, steps, reference } = inputOutput.draw(new CounterRandom(4, i, level), level);
      const points = question
        .replace("f(x)= ", "")
        .split(" ")
        .map((point) => point.split(":").map(Number));
      expect(points.slice(0, 2).map(([x]) => x)).toEqual([0, 1]);
      const [third, atThird] = points[2]!;
      expect([2, 4, 5, 7, 8, 9]).toContain(third);
      const [b, atOne] = points.map(([, y]) => y!) as [number, number];
      const a = atOne - b;
      expect(atThird).toBe(a * third! + b);
      expect(a >= 1 && a <= [2, 3, 5, 9][level]! && b >= 0 && b <= [4, 6, 9, 9][level]!).toBe(true);
      expect(answer).toBe(`${a}*x+${b}`);
      expect(steps).toBe(`b=${b} a=${atOne}-${b}=${a}`);
      const { inputs, outputs } = reference as Tests;
      expect(inputs).toEqual([-2, 3, 6, 10]);
      expect(outputs).toEqual(inputs.map((x) => evaluate(answer, x)));
    }
  },
);

// With three fixed inputs the function determines the question, so no training question asked for one of the 11
// held-out functions of 90.
test.each([0, 1, 2, 3])(
  "held-out questions at level %i ask for functions that training meets, too",
  (level) => {
    const asked = { training: new Set<string>(), heldOut: new Set<string>() };
    const questions = new Set<string>();
    for (let i = 0; i < 8000; i++) {
      const { question, answer } = inputOutput.draw(new CounterRandom(5, i, level), level);
      questions.add(question);
      asked[isHeldOut(question) ? "heldOut" : "training"].add(answer);
    }
    expect(questions.size).toBe([60, 126, 300, 540][level]);
    expect(asked.heldOut.size).toBeGreaterThan(4);
    expect([...asked.heldOut].filter((answer) => !asked.training.has(answer))).toEqual([]);
  },
);
