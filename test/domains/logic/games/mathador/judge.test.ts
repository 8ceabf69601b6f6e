import { expect, test } from "vitest";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers(
  "mathador",
  { metadata: { numbers: [3, 3, 8, 8], operators: ["+", "-", "*", "/"], result: 24 } },
  [
    ["```python\n8/(3-8/3)\n```", "correct", "correct"],
    ["```python\n1\n```\n```python\n 8 / (3 - 8 / 3) ```", "correct", "correct"],
    ["```python\n(8 /\n (3 - 8/3))\n```", "correct", "correct"],
    ["```python\n8\n/(3-8/3)\n```", "wrong", "wrong"],
    ["```python\n8/(3-8/3)\n``` ```python\n1\n```", "wrong", "wrong"],
    ["```python\n8+8+3+3\n```", "wrong", "wrong"],
    ["```python\n8*3\n```", "wrong", "wrong"],
    ["```python\n8*3+8-8+3-3\n```", "wrong", "wrong"],
    ["```python\n(8/8)*3*8\n```", "wrong", "wrong"],
    ["```python\n8/(3-8/3) = 24\n```", "wrong", "wrong"],
    ["```python\n88-3*3\n```", "wrong", "wrong"],
    ["```python\nmax(8,8,3,3)\n```", "wrong", "wrong"],
    ["```python\n8/(3-3)*8\n```", "wrong", "wrong"],
    ["```\n8/(3-8/3)\n```", "wrong", "wrong"],
    ["8/(3-8/3)", "wrong", "wrong"],
  ],
);

test.each([
  [[2, 3, 3], "2**3*3", "correct"],
  [[7, 2, 8], "7//2*8", "correct"],
  [[4, 1, 2, 12], "4**(1/2)*12", "correct"],
])(
  "with %j, %s passes the reference's filter of characters and not strict",
  async (numbers, text, reference) => {
    const data = { metadata: { numbers, operators: ["+", "-", "*", "/"], result: 24 } };
    const judge = judgeAs("mathador");
    const answer = `\`\`\`python\n${text}\n\`\`\``;
    expect((await judge(data, answer, "reference")).split(":")[0]).toBe(reference);
    expect(await judge(data, answer)).toMatch(/^wrong/);
  },
);

test("only the operators of the puzzle count", async () => {
  const data = { metadata: { numbers: [30, 6], operators: ["-"], result: 24 } };
  expect(await judgeAs("mathador")(data, "```python\n30-6\n```")).toBe("correct: solved");
  expect(await judgeAs("mathador")(data, "```python\n30+6\n```")).toBe('wrong: not allowed: "+"');
});
