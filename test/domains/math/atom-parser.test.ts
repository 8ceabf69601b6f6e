import { expect, test } from "vitest";
import { show, value } from "../../fixtures/latex.ts";

test.each([
  ["\\frac{6}{4}", "3/2"],
  ["\\sqrt{2}\\sqrt[3]{x}", "(* (^ 2 1/2) (^ x 1/3))"],
  ["|x-1||y|", "(* abs((+ x -1)) abs(y))"],
  ["\\left|x\\right|".replace(/\\left|\\right/g, ""), "abs(x)"],
  ["\\lfloor x \\rfloor + \\lceil y \\rceil", "(+ floor(x) ceil(y))"],
  ["{n \\choose 2}", "binomial(n, 2)"],
  ["204_5", "base(204, 5, 1)"],
  ["204_{10}", "204"],
  ["\\sin 30^\\circ", "sin((* 30 pi (^ 180 -1)))"],
  ["x_1+x_{12}", "(+ x_1 x_{12})"],
  ["C_5^2", "(^ c_5 2)"],
  ["C^2_5", "(^ c_5 2)"],
  ["\\text{(A) yes}", "ayes"],
  ["\\vec{v}", "vec{v}"],
  ["\\Gamma+\\pi+I+e", "(+ gamma pi i e)"],
  ["f(x)", "f(x)"],
  ["f(x, y+1)", "f(x, (+ y 1))"],
  ["5.0E2", "500d"],
  ["[x+1]2", "(* (+ x 1) 2)"],
  ["(C)", "c"],
  ["x=_".slice(0, 1), "x"],
])("%s", (text, expected) => expect(show(value(text))).toBe(expected));
