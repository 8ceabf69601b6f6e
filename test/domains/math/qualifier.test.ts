// Deliberate faults (mutants) that these tests detect: the last possible start comes first; surrounding brackets
// stay; "n >= 5" is a qualifier; sets of other names count.
import { expect, test } from "vitest";
import { withoutQualifiers } from "../../../lib/domains/math/qualifier.ts";

test.each<[string, string, string, string]>([
  ["f(x)=2x \\text{ for all real } x", "f(x)=2x", "x", "real"],
  ["2x, \\forall x \\in \\mathbb{R}", "2x", "x", "real"],
  ["cx, \\text{ where } c \\text{ is a constant}", "cx", "c", "constant"],
  ["cx, where C is an arbitrary real constant.", "cx", "C", "constant"],
  ["cx \\text{ for some constant } c", "cx", "c", "constant"],
  ["2^n for n ≥ 1", "2^n", "n", "positive"],
  ["2^n, \\quad n \\geq 0", "2^n", "n", "nonnegative"],
  ["2^n \\ (n ∈ ℕ^*)", "2^n", "n", "positive"],
  ["2^n \\left(n \\in \\mathbb{N}\\right)", "2^n", "n", "natural"],
  ["2^n, n \\in \\mathbb{Z}^{+}", "2^n", "n", "positive"],
  ["2^n, n=1,2,3,\\ldots", "2^n", "n", "positive"],
  ["k\\pi, k ∈ ℤ", "k\\pi", "k", "integer"],
  ["k\\pi \\text{ for any integer } k", "k\\pi", "k", "integer"],
  ["2^n \\text{ for all positive integers } n", "2^n", "n", "positive"],
])("%j is %j, and %s is %s", (text, core, name, range) =>
  expect(withoutQualifiers(text)).toEqual({ core, qualifiers: [{ names: [name], range }] }),
);

test("several, and of several names", () => {
  expect(withoutQualifiers("ax+b, a, b \\in \\mathbb{R}")).toEqual({
    core: "ax+b",
    qualifiers: [{ names: ["a", "b"], range: "real" }],
  });
  const two = withoutQualifiers("cx+k\\pi, c \\in \\mathbb{R}, k \\in \\mathbb{Z}");
  expect([two?.core, two?.qualifiers.length]).toEqual(["cx+k\\pi", 2]);
});

test.each([
  "2^n",
  "2^n \\text{ for } n = 3",
  "2^n \\text{ for even } n",
  "2^n, n \\ge 5",
  "2^n, n \\le 1",
  "x>0, x<5",
  "2 \\text{ or } 3, x > 2",
  "x \\text{ if } x \\in \\mathbb{R}",
  "x, x \\neq 0",
  "\\forall x \\in \\mathbb{R}",
  "5 \\text{ for the other}",
])("%j has none that is known", (text) => expect(withoutQualifiers(text)).toBeUndefined());

test("hostile texts take linear time", () => {
  const start = performance.now();
  for (const unit of ["(", ", x", "for all ", "\\text{", "\\in ", "1,2,", "where c is "])
    withoutQualifiers(unit.repeat(4000));
  expect(performance.now() - start).toBeLessThan(5000);
});
