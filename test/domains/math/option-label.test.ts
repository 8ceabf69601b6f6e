// Deliberate faults (mutants) that these tests detect: an operator after the letter is ignored; the first of two
// letters is taken.
import { expect, test } from "vitest";
import { namesSeveral, optionOf } from "../../../lib/domains/math/option-label.ts";

test.each<[string, string, string, boolean]>([
  ["C", "C", "", false],
  ["(C)", "C", "", true],
  ["\\text{C}", "C", "", true],
  ["\\textbf{(C)}", "C", "", true],
  ["\\text{(C) }12", "C", "12", true],
  ["\\textbf{(C)}\\ 12", "C", "12", true],
  ["\\mathrm{C.}\\quad \\frac12", "C", "\\frac12", true],
  ["C. 12", "C", "12", true],
  ["(C) 12", "C", "12", false],
])("%j is option %s, %j", (text, letter, rest, isSure) =>
  expect(optionOf(text)).toEqual({ letter, rest, isSure }),
);

test.each([
  "(C)+1",
  "(C)12",
  "\\text{(C)} \\approx 2",
  "(C) or (D)",
  "\\text{(C) }\\text{(D)}",
  "CD",
  "(K)",
  "12",
  "x",
  "(C), (D)",
])("%j is none", (text) => expect(optionOf(text)).toBeUndefined());

test("several options are seen in brackets and in fonts", () => {
  expect(["\\text{(C) }\\text{(D)}", "(A)(B)", "\\textbf{A} or \\textbf{B}"].map(namesSeveral)).toEqual([
    true,
    true,
    true,
  ]);
  expect(["(A)", "\\text{(A) }(A)", "AB", "(a)(b)"].map(namesSeveral)).toEqual([false, false, false, false]);
});
