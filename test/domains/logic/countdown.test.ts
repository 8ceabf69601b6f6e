import { expect, test } from "vitest";
import { countdown } from "../../../lib/domains/logic/countdown.ts";
import { judgeOf } from "../../fixtures/judge.ts";

// Deliberate faults (mutants) that these tests detect: numbers are compared as a set; a nearly equal value passes;
// the part after = is ignored; an answer in the reasoning counts; of two boxes joined by "or" the last is taken.

const judge = judgeOf(countdown, { nums: [44, 19, 35, 35], target: 98 });
const solved = { status: "correct", score: 1, reason: "solved" };

test.each([
  "<answer>44 + 19 + 35 * (35 / 35)</answer>",
  "<answer>44 + 54</answer>",
  "<answer>98</answer>",
  "<answer>(44 + 19 + 35) * 35</answer>",
])("%s is wrong", async (answer) => {
  expect(await judge(answer)).toMatchObject({ status: "wrong", score: 0 });
});

const one = judgeOf(countdown, { nums: [8, 3, 8, 3], target: 24 });

test.each([
  "<answer>8 / (3 - 8 / 3)</answer>",
  "I try <answer>8 * 3</answer>, no: <answer> 8/(3-(8/3)) = 24 </answer>",
  "<ANSWER>\n8 / (3 - 8 / 3)\n</ANSWER>",
  "So \\boxed{8 \\div \\left(3 - 8 \\div 3\\right)}.",
  "$\\boxed{8 ÷ (3 − 8 ÷ 3) = 24}$",
  "<answer>-8 / (8 / 3 - 3)</answer>",
])("%s is right, in exact fractions", async (answer) => {
  expect(await one(answer)).toEqual(solved);
});

test.each([
  ["<answer>8 / (3 - 8 / 3) = 25</answer>", "wrong", "another value behind ="],
  ["<answer>8 * 3 * (8 - 3)</answer>", "wrong", "another value"],
  [
    "<answer>8 / (3 - 8 / 3)</answer> or rather <answer>8 * 3</answer>",
    "wrong",
    "numbers not used exactly once",
  ],
  [
    "<answer>8 / (3 - 8 / 3)</answer> or <answer>8 + 8 + 3 + 3</answer>",
    "unparsable",
    "not an arithmetic expression",
  ],
  ["\\boxed{8 * 3} or \\boxed{8 / (3 - 8 / 3)}", "unparsable", "not an arithmetic expression"],
  ["<answer>8 / (3 - 8 / 3</answer>", "unparsable", "not an arithmetic expression"],
  ["<answer>8 / (3 - 3) + 8 * 3 - 3</answer>", "wrong", "numbers not used exactly once"],
  ["<answer>8 / (3 - 3) + 8</answer>", "unparsable", "not an arithmetic expression"],
  ["<answer>8 ** 3 // 8 - 3</answer>", "unparsable", "not an arithmetic expression"],
  ["<answer>eight by three</answer>", "unparsable", "not an arithmetic expression"],
  ["<answer> </answer>", "no_answer", "nothing after <answer>, and no \\boxed{}"],
  ["8 / (3 - 8 / 3)", "no_answer", "nothing after <answer>, and no \\boxed{}"],
  ["<answer>8 / (3 - 8 / 3)", "no_answer", "nothing after <answer>, and no \\boxed{}"],
  ["\\boxed{}", "unparsable", "empty \\boxed{}"],
])("%s is %s: %s", async (answer, status, reason) => {
  expect(await one(answer)).toEqual({ status, score: 0, reason });
});

test("an answer inside the thought is none", () => {
  const text = "<think><answer>8 / (3 - 8 / 3)</answer>";
  const reference = countdown.parseReference({ nums: [8, 3, 8, 3], target: 24 });
  expect(countdown.verify({ text, finish: "length" }, reference)).toMatchObject({ status: "no_answer" });
});

test.each([{}, { nums: [], target: 1 }, { nums: [1.5], target: 1 }, { nums: [1], target: "1" }])(
  "reference %j is refused",
  (reference) => {
    expect(() => countdown.parseReference(reference)).toThrow(/countdown: the reference is not/);
  },
);

/** Yields the values of all expressions over the numbers, each with a text: joins every pair in every way. */
function* everyWay(
  items: readonly { text: string; value: number }[],
): Generator<{ text: string; value: number }> {
  if (items.length === 1) yield items[0]!;
  for (const [i, a] of items.entries())
    for (const [j, b] of items.entries()) {
      if (i === j) continue;
      const rest = items.filter((_, k) => k !== i && k !== j);
      const joined = {
        "+": a.value + b.value,
        "-": a.value - b.value,
        "*": a.value * b.value,
        "/": a.value / b.value,
      };
      for (const [operator, value] of Object.entries(joined))
        if (Number.isFinite(value))
          yield* everyWay([...rest, { text: `(${a.text} ${operator} ${b.text})`, value }]);
    }
}

test("of all 7,680 ways to join 2, 5, 7 and 9, those are right that a search in doubles finds", async () => {
  const ours = judgeOf(countdown, { nums: [2, 5, 7, 9], target: 24 });
  const ways = [...everyWay([2, 5, 7, 9].map((value) => ({ text: String(value), value })))];
  const found = ways.filter(({ value }) => Math.abs(value - 24) < 1e-9);
  const verdicts = await Promise.all(ways.map(({ text }) => ours(`<answer>${text}</answer>`)));
  expect(verdicts.filter(({ status }) => status === "correct")).toHaveLength(found.length);
  expect(found.length).toBeGreaterThan(10);
});
