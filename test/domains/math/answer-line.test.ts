// Deliberate faults (mutants) that these tests detect: the first marked line instead of the last, a box before the
// line is preferred, dollar signs are kept, braces are ignored, "Answer:" matches inside a line.
import { describe, expect, test } from "vitest";
import { lastStated, type Marker } from "../../../lib/domains/math/answer-line.ts";
import { math } from "../../../lib/domains/math/verify.ts";

const statusOf = (text: string, after: Marker, answer: string | string[] = "34") =>
  (math.verify({ text, finish: "stop" }, math.parseReference({ answer, after })) as { status: string })
    .status;

describe("the line that begins with Answer:", () => {
  test.each([
    "Add them.\n\nAnswer: 34",
    "Answer: $34$",
    "Answer: $34", // the prompt asked for "Answer: $Answer"
    "Answer: 34.",
    "**Answer:** 34",
    "**Answer: 34**",
    "### Final Answer: \\(34\\)",
    "Answer:\n34",
    "ANSWER : 34",
    "Answer: \\boxed{34}",
    "Answer: 5\nNo.\nAnswer: 34\n\nThat is all.",
    "<think>Answer: 5</think>Answer: 34",
    "\\boxed{5}\n\nAnswer: 34",
    "Answer: 5, or rather \\boxed{34}",
    "so \\boxed{34}",
    "Answer: x = 34",
    "Answer: **34**.",
    "- Answer: 34",
    "2) **Answer**： 34。",
    "> Answer: `34`",
    "### Final Answer\n\n34",
    "Answer:\n\n\\[\n34\n\\]",
    "Answer: $$\n34\n$$.",
    "Answer:\n```\n34\n```",
    "Answer: 34</s>",
    "Answer: 34\n<|im_end|>",
    "Answer:\n34\n\nand that is all there is.\nReally.",
    "Answer: 34\n\n$30+4$",
    "Answer: 34\n= 30 + 4",
    "Answer:\n34\n∎",
  ])("%j states 34", (text) => {
    expect(statusOf(text, "Answer:")).toBe("correct");
  });

  test.each([
    ["Answer: 35", "wrong"],
    ["Answer: 34\nAnswer: 35", "wrong"],
    ["Answer: 34, no: \\boxed{35}", "wrong"],
    ["Answer: 34 or 35", "wrong"],
    ["Answer:\n34\n35", "wrong"],
    ["Answer:\n34\n\n35", "wrong"],
    ["Answer: 34\n35", "wrong"],
    ["Answer: 34\n= 35", "wrong"],
    ["Answer: 34\nor 35", "wrong"],
    ["Answer:\n34\nor\n35", "wrong"],
    ["Answer: 34\n\n(or 35)", "wrong"],
    ["Answer: 34\n\nMaybe 35.", "wrong"],
    ["Answer:\n\\[ 34 \\]\n\\[ 35 \\]", "wrong"],
    ["Answer: \\[ 34 \\] or 35", "wrong"],
    ["Answer\n34", "no_answer"],
    ["### My answer\n34", "no_answer"],
    ["Answer: 34} 35", "unparsable"],
    ["Answer: {34", "unparsable"],
    ["Answer: $$", "unparsable"],
    ["<think>Answer: 34</think>", "no_answer"],
    ["I know the answer: 34", "no_answer"],
    ["34", "no_answer"],
    [`Answer: 34${" and so on".repeat(200)}`, "no_answer"],
  ])("%j is %s", (text, status) => {
    expect(statusOf(text, "Answer:")).toBe(status);
  });

  test("what a prompt may not ask for counts only where the reference says so", () => {
    const reference = math.parseReference({ answer: "34" });
    expect(math.verify({ text: "Answer: 34", finish: "stop" }, reference)).toMatchObject({
      status: "no_answer",
    });
  });
});

test.each<[string, Marker, string]>([
  ["48 + 24 = 72\n#### 72", "####", "correct"],
  ["It is #### $72", "####", "correct"],
  ["#### 1\n#### 72 dollars", "####", "correct"],
  ["#### 71", "####", "wrong"],
  ["#### Step 1\nso \\boxed{72}", "####", "correct"],
  ["####", "####", "no_answer"],
  ["<answer>5</answer> <answer>\n 72 </answer>", "<answer>", "correct"],
  ["<answer>so \\boxed{72}</answer>", "<answer>", "correct"],
  ["<answer>72", "<answer>", "no_answer"],
  ["<answer>71</answer> or <answer>72</answer>", "<answer>", "wrong"],
  ["<answer>71</answer> No: <answer>72</answer>", "<answer>", "correct"],
])("%j behind %s is %s for 72", (text, after, status) => {
  expect(statusOf(text, after, "72")).toBe(status);
});

test("of several right answers any will do, and the verdict of the first is that of a wrong one", () => {
  expect(statusOf("Answer: 0.5", "Answer:", ["7", "\\frac12"])).toBe("correct");
  expect(statusOf("Answer: 8", "Answer:", ["7", "\\frac12"])).toBe("wrong");
});

test("what is missing is named", () => {
  expect(lastStated("34", "####")).toEqual({
    status: "no_answer",
    reason: "nothing after ####, and no \\boxed{}",
  });
  expect(lastStated("34", undefined)).toEqual({ status: "no_answer", reason: "no \\boxed{}" });
});

test("ten megabytes of markers end", () => {
  for (const text of [
    "Answer:".repeat(1e6),
    `Answer:${"\n".repeat(1e7)}`,
    "#### ".repeat(2e6),
    "<answer>".repeat(1e6),
  ])
    for (const after of ["Answer:", "####", "<answer>"] as const)
      expect(["no_answer", "wrong", "unparsable"]).toContain(statusOf(text, after));
});
