import { join } from "node:path";
import { expect, test } from "vitest";
import type { Category } from "../../lib/traces/categories.ts";
import { gradeReader, readHand } from "../../lib/traces/hand.ts";
import { HEURISTIC_MEASURED, labelByRules, RULES, repetition, runsOf } from "../../lib/traces/heuristic.ts";
import { stepsOf } from "../../lib/traces/split.ts";
import { thought } from "./small-evaluation.ts";

const SETUP = "We are given a field of 40 metres by 25 metres.";
const FORWARD = "The fence has a length of twice 65, which makes 130 metres.";

/** The label of a step that is the third of a thought. */
const labelOf = (text: string): Category => labelByRules(stepsOf(thought(SETUP, FORWARD, text)))[2]!;

test.each<[Category, string]>([
  ["verification", "Let me check this with the other side: 40 + 25 is 65 as well."],
  ["verification", "The total is consistent with the drawing."],
  ["verification", "Summing all of them, 40 + 40 + 25 + 25 = 130."],
  ["backtracking", "Hold on, one of the sides is a wall and takes no fence."],
  ["backtracking", "I misread the drawing; the gate is outside."],
  ["subgoal setting", "My plan: the posts, then the wire, then the price of both."],
  ["backward chaining", "Working back from the price, the wire must cost 90."],
  ["problem setup", "Let p be the number of posts."],
  ["non-productive", "The fence has a length of twice 65, which makes 130 metres."],
  ["non-productive", "So it is 130."],
  ["non-productive", "I'm quite sure about everything."],
  ["forward reasoning", "Posts stand every 5 metres, and that makes 26."],
])("%s: %s", (label, text) => {
  expect(labelOf(text)).toBe(label);
});

test("the first step is setup, the answer's place makes the answer, and of a trace without thought the last step", () => {
  expect(labelByRules(stepsOf(thought("Some words to begin with.")))).toEqual([
    "problem setup",
    "final answer",
  ]);
  expect(labelByRules(stepsOf("Some words to begin with.\n\nThe wire costs 90."))).toEqual([
    "problem setup",
    "final answer",
  ]);
});

test("repetition is the share of runs of three that were said before", () => {
  expect(runsOf("The sum: 2 + 3.5")).toEqual(["the sum 2", "sum 2 +", "2 + 3.5"]);
  expect(runsOf("two words")).toEqual([]);
  const known = new Set(runsOf("a b c d"));
  expect(repetition("a b c x y", known)).toBeCloseTo(1 / 3, 12);
  expect(repetition("", known)).toBe(0);
});

test("what is said of it is what is measured on the traces that no rule was fitted to", async () => {
  const grades = await gradeReader(
    RULES,
    await readHand(join(import.meta.dirname, "../fixtures/traces.jsonl")),
  );
  expect(grades.map(({ set, traces }) => [set, traces])).toEqual([
    ["tuned", 30],
    ["held out", 30],
  ]);
  const { traces, steps, agreement } = grades[1]!;
  const { share, kappa } = agreement!;
  const measured = { traces, steps, accuracy: Number(share.toFixed(3)), kappa: Number(kappa!.toFixed(3)) };
  expect(measured).toEqual(HEURISTIC_MEASURED);
});
