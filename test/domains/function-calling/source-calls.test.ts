import { describe, expect, test } from "vitest";
import { readSourceCalls } from "../../../lib/domains/function-calling/source-calls.ts";
import { toPlain } from "../../../lib/python/value.ts";

function read(text: string): unknown {
  const found = readSourceCalls(text);
  if (found.kind !== "calls") return found;
  const [{ name, arguments: given, positional }] = found.calls as [(typeof found.calls)[number]];
  return [name, Object.fromEntries([...given].map(([key, value]) => [key, toPlain(value)])), positional];
}

describe("a call with named arguments in source text", () => {
  test.each<[string, unknown]>([
    ["[f(a=1)]", ["f", { a: "1" }, 0]],
    ["f(a=1)", ["f", { a: "1" }, 0]],
    ["`[f(a=1)]`\n", ["f", { a: "1" }, 0]],
    ["[Widgets.make( a = 5L , b = true );]", ["Widgets.make", { a: "5L", b: "true" }, 0]],
    ["[f()]", ["f", {}, 0]],
    ['[f(a="x, y)", b=\'c\', c="it\\"s")]', ["f", { a: "x, y)", b: "c", c: 'it\\"s' }, 0]],
    ['[f(a="x" + "y")]', ["f", { a: '"x" + "y"' }, 0]],
    ["[f(a=new int[]{1, 2}, b=x)]", ["f", { a: "new int[]{1, 2}", b: "x" }, 0]],
    [
      '[f(a=new HashMap<String, List<Integer>>() {{ put("k", 1); }}, b=2)]',
      ["f", { a: 'new HashMap<String, List<Integer>>() {{ put("k", 1); }}', b: "2" }, 0],
    ],
    ["[f(a=[1, [2]], b={k: 'v', l: 2})]", ["f", { a: "[1, [2]]", b: "{k: 'v', l: 2}" }, 0]],
    ["[f(a=(x, y) => x < y, b=1)]", ["f", { a: "(x, y) => x < y", b: "1" }, 0]],
    ["[f(1, a=2)]", ["f", { a: "2" }, 1]],
    ["[f(a==1)]", ["f", {}, 1]],
    ["[f(a=1, a=2)]", ["f", { a: "2" }, 0]],
    ["[f(__proto__=1)]", ["f", Object.fromEntries([["__proto__", "1"]]), 0]],
  ])("%s", (text, expected) => {
    expect(read(text)).toEqual(expected);
  });
});

test.each([
  "",
  "[]",
  "f",
  "f(",
  "f(a=1",
  "f(a=1))",
  "f(a=1) and more",
  "f(a=1,)",
  "f(,a=1)x",
  'f(a="x)',
  "f(a=[1)]",
  "f(a={1]}",
  "Sure: f(a=1)",
  '[{"name": "f"}]',
  "I cannot.",
])("%j is none", (text) => {
  expect(read(text)).toEqual({ kind: "malformed", reason: "decoder_failed" });
});

test.each(["(", "[", "'", "f(a=<", "f(a='\\", "a.", "f(a=1,", " ", "`", "<", "f<"])(
  "a megabyte of %j is refused in bounded time, before it and after a head",
  (unit) => {
    const started = performance.now();
    for (const size of [50_000, 1_000_000]) {
      readSourceCalls(unit.repeat(size / unit.length));
      readSourceCalls(`[f(a=${unit.repeat(size / unit.length)})]`);
    }
    expect(performance.now() - started).toBeLessThan(15_000);
  },
);
