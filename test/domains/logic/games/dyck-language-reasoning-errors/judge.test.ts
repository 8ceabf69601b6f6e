import { describe } from "vitest";
import { testAnswers } from "../../judge.ts";

testAnswers("dyck_language_reasoning_errors", { metadata: { error_indices: [3, 16] } }, [
  ["3,16", "correct", "correct"],
  ["Errors: 16，03", "correct", "correct"],
  ["3 and 16", "wrong", "correct"],
  ["Thoughts 3, 16", "correct", "correct"],
  ["3,16,17", "wrong", "wrong"],
  ["3", "wrong", "wrong"],
  ["unclear: 3,16", "wrong", "correct"],
  ["none", "wrong", "wrong"],
]);

describe("where no step is wrong", () => {
  testAnswers("dyck_language_reasoning_errors", { metadata: { error_indices: [] } }, [
    ['""', "correct", "correct"],
    ["No errors.", "correct", "correct"],
    ["无错误", "correct", "correct"],
    ["banana", "correct", "wrong"],
    ["5", "wrong", "wrong"],
    ["unclear", "wrong", "wrong"],
  ]);
});
