import { describe, expect, test } from "vitest";
import { bracketedBlocks, firstPythonBlock } from "../../../../lib/domains/logic/judging/code-block.ts";

describe("firstPythonBlock", () => {
  test.each([
    ["```python\nx = 1\n```", "x = 1"],
    ["so:\n```python  \n\n  [1]  \n  ```", "[1]"],
    ["```python\na\n``` ```python\nb\n```", "a"],
    ["```python a\n``` ```python\nb\n```", "b"],
    ["```python\na```\nb\n```", "a```\nb"],
    ["```python\na```", undefined],
    ["```python\na\n", undefined],
    ["```\na\n```", undefined],
    ["no block", undefined],
  ])("%j holds %j", (text, content) => {
    expect(firstPythonBlock(text)).toBe(content);
  });
});

describe("bracketedBlocks", () => {
  test.each([
    ["```python\n[1]\n```", ["[1]", "python\n[1]"]],
    ["```python\n[1]\n```\n```python\n[2]\n```", ["[2]", "```python\n[2]", "python\n[2]"]],
    ["```\n[1]\n```", ["[1]", "[1]"]],
    ["```[1]```", ["[1]"]],
    [
      "```python\nnone\n```\n```python\n[2]\n```",
      ["none\n```\n```python\n[2]", "```python\n[2]", "python\nnone\n```\n```python\n[2]"],
    ],
    ["```python\n[1]", []],
    ["[1]", []],
  ])("%j holds %j", (text, blocks) => {
    expect(bracketedBlocks(text)).toEqual(blocks);
  });
});

test("a megabyte of marks takes linear time", () => {
  const started = performance.now();
  for (const part of ["```", "```python\n", "```python\n[", "```\n", "``` ", "```python\n[]\n"]) {
    const text = part.repeat(1e6 / part.length);
    firstPythonBlock(text);
    bracketedBlocks(text);
  }
  expect(performance.now() - started).toBeLessThan(15_000);
});
