// Deliberate faults (mutants) that these tests detect: only the last box is read; a distant box is joined; words
// between boxes are ignored; "or" before the box is missed.
import { expect, test } from "vitest";
import { answerBox } from "../../../lib/domains/math/answer-box.ts";
import { boxContent } from "../../../lib/domains/math/boxed.ts";

const contentOf = (text: string): string | undefined => {
  const tail = answerBox(text);
  return tail.status === "found" ? boxContent(tail.text)?.text : undefined;
};

test.each([
  ["\\boxed{2} or \\boxed{3}", "2, 3"],
  ["$\\boxed{2}$, $\\boxed{3}$ and $\\boxed{4}$", "2, 3, 4"],
  ["\\[\\boxed{2}\\]\n\\[\\boxed{3}\\]", "2, 3"],
  ["\\boxed{2} \\text{ or } \\boxed{3}", "2, 3"],
  ["\\boxed{2}/\\boxed{3}", "2, 3"],
  ["1. \\boxed{2}\n2. \\boxed{3}", "2, 3"],
  ["(a) \\boxed{2} (b) \\boxed{3}", "2, 3"],
  ["\\boxed{2} or possibly even \\boxed{3}", "2, 3"],
  ["\\boxed{2}. Alternatively, \\boxed{3}", "2, 3"],
  ["If so \\boxed{2}, if not \\boxed{3}", "2, 3"],
  ["\\boxed{2} or, if wrong, 3.", "2, 3"],
  ["\\boxed{2} / 3", "2, 3"],
  ["\\boxed{2} or $3$.", "2, 3"],
  ["\\boxed{2}, or 3", "2, 3"],
  ["either 3 or \\boxed{2}", "2, 3"],
  ["x = 3 or $x = \\boxed{2}$", "2"],
  ["\\boxed{2} or alternatively -3/4.", "2"],
  ["\\boxed{\\frac12} or \\frac{3}{4}", "\\frac12, \\frac{3}{4}"],
])("%j states %j", (text, content) => expect(contentOf(text)).toBe(content));

test.each([
  ["\\boxed{2}. Wait, that is off. \\boxed{3}", "3"],
  ["\\boxed{3}, so again \\boxed{3}", "3"],
  ["\\boxed{3}\n\n\\boxed{3}", "3"],
  ["\\boxed{3} or 3 times as many as before", "3"],
  ["5 + 2 or \\boxed{7}", "7"],
  ["\\boxed{3} or equivalently $6/2$", "3"],
  ["we may take 5 or 6 balls: \\boxed{3}", "3"],
  ["\\boxed{3} is right, or so I think.", "3"],
])("%j states %j alone", (text, content) => expect(contentOf(text)).toBe(content));

test("no box, and an open one, are what they were", () => {
  expect(answerBox("3").status).toBe("no_answer");
  expect(answerBox("\\boxed{3")).toEqual({ status: "found", text: "\\boxed{3" });
});

test("ten thousand boxes take linear time", () => {
  const start = performance.now();
  answerBox("\\boxed{1},".repeat(100_000));
  answerBox("\\boxed{".repeat(100_000));
  expect(performance.now() - start).toBeLessThan(5000);
});
