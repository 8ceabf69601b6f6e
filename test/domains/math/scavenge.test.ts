import { expect, test } from "vitest";
import { scavenge } from "../../../lib/domains/math/scavenge.ts";
import { show } from "../../fixtures/latex.ts";

// Deliberate faults (mutants) that these tests detect: priorities are reversed, the first match instead of the last,
// numbers without anchors, no pattern for a bare box, "3." is not a decimal.

const found = (text: string) => {
  const reading = scavenge(text);
  return reading && [reading.value && show(reading.value), reading.text];
};

test.each([
  ["\\boxed{5}", "5", "5"],
  ["\\boxed{5}. So the answer is 7", "5", "5"],
  ["\\boxed{5}. The final answer is $7$.", "7", "7"],
  ["\\boxed{5}. The final answer is $7$. I hope it is correct.", "7", "7"],
  ["\\boxed{2\\cdot\\frac{t = 2}{2}}", "2", "2\\cdot\\frac{t = 2}{2}"],
  ["\\boxed{\\text{\\frac{4}{9}}}", "4/9", "\\text{\\frac{4}{9}}"],
  ["\\boxed{\\frac{1}{2}", "1/2", "{\\frac{1}{2}"],
  ["The answer is 5", "5", "5"],
  ["Answer: 1,234.5", "2469/2d", "1234.5"],
  ["costs 3 + 4 in all", "(+ 3 4)", "3 + 4"],
  ["costs $3 + 4 in all", "4", "4"],
  ["the chance is 2/3. <end>", "(* 2 (^ 3d -1))", "2/3."],
  ["it is 50%", "50%", "50"],
  ["$50$%", "50%", "50"],
  ["either $1$ or $2$", "{1, 2}", "1 and 2"],
  ["thus \\(x^2\\)", "(^ x 2)", "x^2"],
  ["thus \\[ 7 \\]", "7", "7"],
  ["$\\boxed{3}$ and then $4$", "3", "3"],
  ["first \\boxed{1} and \\boxed{2}", "{1, 2}", "1,2"],
  ["\\boxed{n\\ge 2, n\\in\\mathbb{Z}}", "2", "n\\ge 2, n\\in\\mathbb{Z}"],
])("in %s", (text, value, normal) => expect(found(text)).toEqual([value, normal]));

test.each(["", "nothing", "\\boxed{2", "\\boxed{ }", "{5}"])("nothing in %j", (text) =>
  expect(found(text)).toBeUndefined(),
);

test("junk in a box leaves its text", () => {
  expect(found("\\boxed{5.}")).toEqual([undefined, "5."]);
  expect(found("\\boxed{\\frac{1}{0}} is not 3")).toEqual([undefined, "\\frac{1}{0}"]);
});

test("a thousand hostile characters are read without a long search", () => {
  for (const s of [
    "answer: ",
    "1+1 ",
    "$",
    "$x$ and ",
    "final answer is ",
    "\\boxed{",
    "=1 1",
    "answer 1 =",
    "\\[ ",
    " [ ",
  ]) {
    scavenge(s.repeat(Math.floor(1000 / s.length)));
  }
});
