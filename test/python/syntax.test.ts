import { describe, expect, test } from "vitest";
import { bare, children, MAX_CHARS, type Node, readExpression, textOf } from "../../lib/python/syntax.ts";

/** The name of the expression's node and the text of its parts. */
function parts(text: string): unknown {
  const found = readExpression(text);
  if ("fault" in found) return found.fault;
  return [found.node.name, ...children(found.node).map((node: Node) => textOf(found.source, node))];
}

describe("one expression is found", () => {
  test.each([
    ["[1, # one\n 2]", ["ArrayExpression", "[", "1", ",", "2", "]"]],
    ["((x))", ["VariableName"]],
    ["1, 2", ["ExpressionStatement", "1", ",", "2"]],
    ["1,", ["ExpressionStatement", "1", ","]],
    ["\n# a\n\nx.y\n\n", ["MemberExpression", "x", ".", "y"]],
    ["'a'\r\n", ["String"]],
    [
      "[1., 2.e5, '3.', \"4.\", a1.b]",
      ["ArrayExpression", "[", "1.0", ",", "2.0e5", ",", "'3.'", ",", '"4."', ",", "a1.b", "]"],
    ],
    ["'''\\''' 1.''' + 1.", ["BinaryExpression", "'''\\''' 1.'''", "+", "1.0"]],
  ])("in %j", (text, expected) => {
    expect(parts(text)).toEqual(expected);
  });
});

describe("anything else is a fault", () => {
  test.each([
    ["", "not a Python expression"],
    ["# only a comment", "not a Python expression"],
    ["1; 2", "not a Python expression"],
    ["1;", "not a Python expression"],
    ["1\n2", "not a Python expression"],
    ["a = 1", "not a Python expression"],
    ["import os", "not a Python expression"],
    ["print 1", "not a Python expression"],
    ["[1 2]", "not a Python expression"],
    ["[1, 2", "not a Python expression"],
    ["(1]", "not a Python expression"],
    ["'a", "not a Python expression"],
    ["f(,)", "not a Python expression"],
    ["\n 1", "unexpected indent"],
    ["# c\n\t1", "unexpected indent"],
    ["1\0", "null character"],
    ["1\\\n", "unexpected end"],
  ])("%j", (text, fault) => {
    expect(parts(text)).toBe(fault);
  });
});

test("longer texts are not read", () => {
  expect(parts("a".repeat(MAX_CHARS + 1))).toBe("longer than 100000 characters");
});

test("parentheses that only group are seen through", () => {
  const found = readExpression("[((1)), (2,)]");
  if ("fault" in found) throw new Error(found.fault);
  expect(children(found.node).map((node) => bare(node).name)).toEqual([
    "[",
    "Number",
    ",",
    "TupleExpression",
    "]",
  ]);
});

/** Each text has the maximum length; a scan that restarts at every quote would take minutes. */
test.each([
  ["brackets", "[".repeat(MAX_CHARS)],
  ["escaped quotes", "'\\\"".repeat(30_000)],
  ["unclosed quotes before a float", `${'"\\"'.repeat(33_000)}1.`],
  ["triple quotes before a float", `${"'''".repeat(33_000)}1.`],
  ["strings side by side", "'a' ".repeat(25_000)],
  ["floats", "1.,".repeat(33_000)],
  ["digits", "1".repeat(MAX_CHARS - 1).concat(".")],
  ["signs", "-".repeat(MAX_CHARS)],
  ["sums", "1+".repeat(49_999)],
  ["attributes", "a.".repeat(49_999)],
  ["calls", "f(".repeat(49_999)],
  ["f-strings", "f'{".repeat(33_000)],
  ["blank lines", "\n".repeat(MAX_CHARS)],
  ["comments", "#\n".repeat(49_999)],
])("%s are read or refused in bounded time", (_, text) => {
  const started = performance.now();
  readExpression(text);
  expect(performance.now() - started).toBeLessThan(15_000);
});
