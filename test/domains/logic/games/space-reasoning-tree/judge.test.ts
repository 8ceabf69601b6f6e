import { expect, test } from "vitest";
import { judgeAs, testAnswers } from "../../judge.ts";

testAnswers("space_reasoning_tree", { answer: "pen, toy car, 铲子" }, [
  ["\\boxed{pen, toy car, 铲子}", "correct", "correct"],
  ["\\boxed{铲子，toycar，pen}", "correct", "correct"],
  ["\\boxed{pen,pen,toy car,铲子}", "correct", "correct"],
  ["\\boxed{\\text{pen, toy car, 铲子}}", "wrong", "correct"],
  ["\\boxed{Pen, toy car, 铲子}", "wrong", "wrong"],
  ["\\boxed{pen, toy car}", "wrong", "wrong"],
  ["\\boxed{pen, toy car, 铲子, fan}", "wrong", "wrong"],
  ["\\boxed{}", "wrong", "wrong"],
  ["pen, toy car, 铲子", "wrong", "wrong"],
]);

test("an empty box names no nodes in strict mode", async () => {
  const judge = judgeAs("space_reasoning_tree");
  expect(await judge({ answer: "" }, "\\boxed{}", "reference")).toBe("correct: the nodes");
  expect(await judge({ answer: "" }, "\\boxed{}")).toBe("wrong: empty \\boxed{}");
});
