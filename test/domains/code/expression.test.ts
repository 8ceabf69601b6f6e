import { expect, test } from "vitest";
import { codeExpression } from "../../../lib/domains/code/expression.ts";
import { judgeOf } from "../../fixtures/judge.ts";

// Deliberate faults (mutants) that these tests detect: values are compared with ==, only the first test is compared,
// the sandbox gets the outputs as a global.

const judge = judgeOf(codeExpression, { inputs: [-3, 0, 2, 5, 7], outputs: [-3, 3, 7, 13, 17] });

test.each(["x*2+3", "(x*2)+3", "3+2*x", "x+x+3", "x - -x + 3", "x*2+3 // doubled", "[x].map(y=>2*y+3)[0]"])(
  "%s is correct",
  async (answer) => {
    expect(await judge(answer)).toEqual({ status: "correct", score: 1, reason: "all tests pass" });
  },
);

test.each([
  ["x*2", "wrong", "fails 5 of 5 tests"],
  ["x*x+3", "wrong", "fails 3 of 5 tests"],
  ["7", "wrong", "fails 4 of 5 tests"],
  ["String(x*2+3)", "wrong", "fails 5 of 5 tests"],
  ["x*2+3/0", "wrong", "fails 5 of 5 tests"],
  ["0/0", "wrong", "fails 5 of 5 tests"],
  ["[x*2+3]", "wrong", "output-type"],
  ["outputs[0]", "wrong", "threw"],
  ["2x+3", "unparsable", "not an expression"],
  ["x*2+", "unparsable", "not an expression"],
  ["return x*2+3", "unparsable", "not an expression"],
  [`x*2+3${" ".repeat(0)}+0`.padStart(201, "0+"), "unparsable", "answer longer than 200 characters"],
])("%j is %s: %s", async (answer, status, reason) => {
  expect(await judge(answer)).toEqual({ status, score: 0, reason });
});

test("strings are compared as strings", async () => {
  const shout = judgeOf(codeExpression, { inputs: ["a", "b"], outputs: ["A", "B"] });
  expect((await shout("x.toUpperCase()")).status).toBe("correct");
  expect((await shout("x")).status).toBe("wrong");
});

test.each([{}, { inputs: [], outputs: [] }, { inputs: [1], outputs: [] }, { inputs: [[1]], outputs: [1] }])(
  "reference %j is refused",
  (reference) => {
    expect(() => codeExpression.parseReference(reference)).toThrow();
  },
);
