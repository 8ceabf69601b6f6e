import { testAnswers } from "../../judge.ts";

testAnswers("dyck_language", { metadata: { full_sequence: "([])" } }, [
  ["([])", "correct", "correct"],
  [" ( [ ] )\n", "correct", "correct"],
  ['"([])"', "correct", "correct"],
  ["'([])'", "correct", "correct"],
  ["([\\n])", "correct", "correct"],
  ["([])'", "wrong", "wrong"],
  ["([]", "wrong", "wrong"],
  ["The sequence is ([])", "wrong", "wrong"],
  ["<think>([</think>([])", "wrong", "correct"],
]);
