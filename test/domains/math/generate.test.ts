import { expect, test } from "vitest";
import { chain, congruence } from "../../../lib/domains/math/generate.ts";
import { CounterRandom } from "../../../lib/random.ts";

// Parses each question and solves it independently. Deliberate faults (mutants) that these tests detect: reduction
// only at the end (steps fail), operand range 0..4 (pattern fails), congruence coefficient range 0..m-1 (uniqueness
// fails).

const draw = (family: typeof chain, level: number, i: number) =>
  family.draw(new CounterRandom(2, i, level), level);

test.each([0, 1, 2, 3])(
  "a chain at level %i has its number of operations, worked out one by one mod 5",
  (level) => {
    for (let i = 0; i < 300; i++) {
      const { question, answer, steps, reference } = draw(chain, level, i);
      const [, start, operations] = /^Apply to ([0-4]): ((?:[+*][1-4] ?)+) mod 5$/.exec(question)!;
      const list = operations!.split(" ");
      expect(list.length).toBe([1, 2, 4, 6][level]);
      let value = Number(start);
      const expected = list.map((operation) => {
        const before = value;
        const operand = Number(operation.slice(1));
        value = (operation.startsWith("+") ? before + operand : before * operand) % 5;
        return `${before}${operation}=${value}`;
      });
      expect(steps).toBe(expected.join(" "));
      expect(answer).toBe(String(value));
      expect(reference).toEqual({ value, modulus: 5 });
    }
  },
);

test.each([0, 1, 2, 3])("a congruence at level %i has exactly the one solution given", (level) => {
  for (let i = 0; i < 300; i++) {
    const { question, answer, steps, reference } = draw(congruence, level, i);
    const [, a, b, c, m] = /^Solve (\d)x\+(\d)=(\d) mod (\d)$/.exec(question)!.map(Number) as number[];
    expect(m).toBe([3, 3, 5, 5][level]);
    const values = Array.from({ length: m! }, (_, x) => (a! * x + b!) % m!);
    const solutions = values.flatMap((value, x) => (value === c ? [x] : []));
    expect(solutions.map(String)).toEqual([answer]);
    expect(steps).toBe(
      values
        .slice(0, solutions[0]! + 1)
        .map((value, x) => `${x}:${value}`)
        .join(" "),
    );
    expect(reference).toEqual({ value: solutions[0], modulus: m });
  }
});
