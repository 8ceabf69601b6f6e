import { expect, test } from "vitest";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers("cipher", { answer: "[[HELLO 你好]]" }, [
  ["```python\n[['HELLO 你好']]\n```", "correct", "correct"],
  ['text ```python\n[["HELLO 你好"]]\n``` more', "correct", "correct"],
  ["```python\n[['A']]\n```\n```python\n[['HELLO 你好'],]\n```", "correct", "correct"],
  ["[['HELLO 你好']]", "correct", "correct"],
  ["```python\n[['HELLO']]\n```", "wrong", "wrong"],
  ["```python\n[['HELLO 你好']]\n```\n```python\n```", "wrong", "wrong"],
  ["```python\n(('HELLO 你好',),)\n```", "wrong", "wrong"],
  ["```python\n['HELLO 你好']\n```", "wrong", "wrong"],
  ["```python\n[[HELLO 你好]]\n```", "wrong", "wrong"],
  ["```python\n__import__('os').system('true') or [['HELLO 你好']]\n```", "wrong", "wrong"],
  ["HELLO 你好", "wrong", "wrong"],
]);

test("a short answer is compared whole, an astral character counts as one", async () => {
  const judge = judgeAs("cipher");
  expect(await judge({ answer: "ABC" }, "[['ABC']]")).toBe("correct: the text");
  expect(await judge({ answer: "[[😀]]" }, "[['😀']]")).toBe("correct: the text");
});
