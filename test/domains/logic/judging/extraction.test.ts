import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  commaList,
  lastBox,
  lastFlatBox,
  onlyBox,
  plainBox,
  pythonBlockLines,
  pythonBlocks,
  spans,
} from "../../../../lib/domains/logic/judging/extraction.ts";

test.each([
  ["no box", undefined, undefined],
  ["\\boxed{a}", "a", "a"],
  ["\\boxed{a} \\boxed{ b }", "b", "b"],
  ["\\boxed{\\text{a} b}", "\\text{a} b", "\\text{a"],
  ["\\boxed{\\boxed{a}}", "a", "a"],
  ["\\boxed{a} \\boxed{b", undefined, undefined],
  ["\\boxed{a{b}", undefined, "a{b"],
  ["\\boxed{}", "", ""],
  ["\\boxed {a}", undefined, undefined],
])("the last box of %j", (text, matched, flat) => {
  expect([lastBox(text), lastFlatBox(text)]).toEqual([matched, flat]);
});

test.each([
  ["\\boxed{a} or \\boxed{b}", undefined],
  ["$\\boxed{a}$, or $\\boxed{b}$", undefined],
  ["\\(\\boxed{a}\\) or \\(\\boxed{b}\\)", undefined],
  ["\\boxed{b} or \\boxed{b}", "b"],
  ["\\boxed{a} was off, or so it seems. \\boxed{b}", "b"],
  ["\\boxed{a}. Then \\boxed{b}", "b"],
  ["or \\boxed{b}", "b"],
])("the only box of %j", (text, box) => {
  expect(onlyBox(text)).toBe(box);
  expect(plainBox(text)).toBe(box);
});

test.each([
  ["```python\n1\n```", ["1"]],
  ["```python\n1\n``````python\n2```", ["1", "2"]],
  ["```python 1\n```python\n2\n```", ["1"]],
  ["```\n1\n```", []],
  ["```python\n1", []],
])("the python blocks of %j", (text, blocks) => expect(pythonBlocks(text)).toEqual(blocks));

describe("spans", () => {
  test("are those of a lazy regular expression", () => {
    const text = fc.array(fc.constantFrom("[", "]", "[[", "]]", "a", "\n"), { maxLength: 30 });
    fc.assert(
      fc.property(text, (pieces) => {
        const joined = pieces.join("");
        for (const [open, close, regex] of [
          ["[", "]", /\[(.*?)\]/gs],
          ["[[", "]]", /\[\[(.*?)\]\]/gs],
        ] as const) {
          expect(spans(joined, open, close)).toEqual([...joined.matchAll(regex)].map((m) => m[1]));
        }
      }),
    );
  });

  test("take linear time in text that never closes", () => {
    expect(spans("[[".repeat(1 << 19), "[[", "]]")).toEqual([]);
    expect(spans("[[ ]".repeat(1 << 18), "[[", "]]")).toEqual([]);
  });
});

test.each([
  ["```python\n1\n```", ["1"]],
  ["```python  \n\n 1\n2\n```x```python\n3\n```", ["1\n2", "3"]],
  ["```python 1\n```", []],
  ["```python\n1```", []],
  ["```python\n1", []],
])("the lines of python blocks of %j", (text, blocks) => {
  expect(pythonBlockLines(text).map((block) => block.trim())).toEqual(blocks);
});

test.each([
  ["\\boxed{\\text{ a b }}", "a b"],
  ["\\boxed{\\mathrm{a}}", "a"],
  ["\\boxed{\\text{a}, \\text{b}}", "\\text{a}, \\text{b}"],
  ["\\boxed{\\text{a{b}}}", "\\text{a{b}}"],
  ["a", undefined],
])("the plain box of %j is %j", (text, content) => expect(plainBox(text)).toBe(content));

test("a list is cut at commas of both widths, spaces gone", () => {
  expect(commaList("a b, c，\td,")).toEqual(["ab", "c", "d", ""]);
});
