import { expect, test } from "vitest";
import { bracedArguments, closingPlace, fractionsOfOver } from "../../../lib/domains/math/brace-groups.ts";

// Deliberate faults (mutants) that these tests detect: the first closing parenthesis ends the group, \overline is
// read as \over, \over's group is the whole text.

test.each([
  ["\\sqrt(3)", "\\sqrt{3}"],
  ["2\\sqrt((a+b)c)+1", "2\\sqrt{(a+b)c}+1"],
  ["\\sqrt[3](x)", "\\sqrt[3]{x}"],
  ["2^(n(n+1)/2)", "2^{n(n+1)/2}"],
  ["\\sqrt(2)\\sqrt(3)", "\\sqrt{2}\\sqrt{3}"],
  ["\\sqrt{3}(2)", "\\sqrt{3}(2)"],
  ["\\sqrt(3", "\\sqrt(3"],
])("%j with braces is %j", (text, expected) => expect(bracedArguments(text)).toBe(expected));

test.each([
  ["{3 \\over 4}", "{\\frac{3}{4}}"],
  ["{a+b \\over c}", "{\\frac{a+b}{c}}"],
  ["1 \\over 2", "\\frac{1}{2}"],
  ["x+{1 \\over {2 \\over 3}}", "x+{\\frac{1}{{\\frac{2}{3}}}}"],
  ["\\overline{6}", "\\overline{6}"],
  ["\\{{1 \\over 2}\\}", "\\{{\\frac{1}{2}}\\}"],
])("%j as fractions is %j", (text, expected) => expect(fractionsOfOver(text)).toBe(expected));

test("a bracket closes where its own one does, an escaped one is none", () => {
  expect(closingPlace("{a\\}b}c", 0)).toBe(5);
  expect(closingPlace("(()", 0)).toBeUndefined();
});
