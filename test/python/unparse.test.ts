// Facts of Python 3.11's ast.unparse. Deliberate faults (mutants) that these tests detect: strings keep their
// spelling, the comma of `(1,)` is dropped, a comma before a closing bracket is kept.
import { expect, test } from "vitest";
import { readExpression } from "../../lib/python/syntax.ts";
import { sourceText } from "../../lib/python/unparse.ts";

function spelled(text: string): string {
  const expression = readExpression(text);
  if ("fault" in expression) throw new Error(expression.fault);
  return sourceText(expression, expression.node);
}

test.each([
  ["f( 1,2 )", "f(1, 2)"],
  ["f(\n  1,\n  2,\n)", "f(1, 2)"],
  ["a . b( )", "a.b()"],
  ["f(\"a\", 'b')", "f('a', 'b')"],
  ['f("it\'s")', 'f("it\'s")'],
  ["f('a\\nb')", "f('a\\nb')"],
  ["f(1+2)", "f(1 + 2)"],
  ["f(-1)", "f(-1)"],
  ["f([1,2,],{'a':1})", "f([1, 2], {'a': 1})"],
  ["f((1,))", "f((1,))"],
  ["a[1:2]", "a[1:2]"],
  ["a[ 'k' ]", "a['k']"],
  ["f(a < b)", "f(a < b)"],
  ["f(a and b)", "f(a and b)"],
  ["f(*x)", "f(*x)"],
  ["f(True, None)", "f(True, None)"],
])("%j is %j", (text, expected) => {
  expect(spelled(text)).toBe(expected);
});

test("long texts are cut", () => {
  expect(spelled(`f(${"1,".repeat(20_000)})`)).toHaveLength(10_000);
});
