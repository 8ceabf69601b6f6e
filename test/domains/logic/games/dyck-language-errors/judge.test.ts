import { describe } from "vitest";
import { testAnswers } from "../../judge.ts";

testAnswers("dyck_language_errors", { metadata: { is_valid: false, first_error_pos: 19 } }, [
  ["19", "correct", "correct"],
  ["The first error is at position 019.", "correct", "correct"],
  ["19, because 20 is open", "correct", "wrong"],
  ["At 1 ok, so 19", "wrong", "wrong"],
  ["19 or -1", "wrong", "wrong"],
  ["-19", "wrong", "wrong"],
  ["20", "wrong", "wrong"],
  ["valid", "wrong", "wrong"],
]);

describe("where nothing is wrong", () => {
  testAnswers("dyck_language_errors", { metadata: { is_valid: true, first_error_pos: null } }, [
    ["-1", "correct", "correct"],
    ["so -1.", "correct", "correct"],
    ["3 or 4 or -1", "correct", "wrong"],
    ["it is valid", "correct", "wrong"],
    ["invalid", "correct", "wrong"],
    ["- 1", "wrong", "wrong"],
    ["1", "wrong", "wrong"],
  ]);
});
