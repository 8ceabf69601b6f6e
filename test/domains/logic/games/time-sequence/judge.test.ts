import { testAnswers } from "../../judge.ts";

testAnswers("time_sequence", { metadata: { records: { answers: { answer_maxLen: 95, answer_nums: 1 } } } }, [
  ["[95, 1]", "correct", "correct"],
  ["\\boxed{[95，1]}", "correct", "correct"],
  ["[30, 2] or rather [95.0, 1]", "correct", "correct"],
  ["[95, 1, 7]", "correct", "wrong"],
  ["[95, true]", "correct", "wrong"],
  ["[1, 95]", "wrong", "wrong"],
  ["[95]", "wrong", "wrong"],
  ['["95", "1"]', "wrong", "wrong"],
  ["[95, 1] as in [1]", "wrong", "wrong"],
  ["[[95, 1]]", "wrong", "wrong"],
  ["95, 1", "wrong", "wrong"],
  ["[]", "wrong", "wrong"],
]);
