import { testAnswers } from "../../judge.ts";

testAnswers("word_sorting", { answer: "air, ease, tower" }, [
  ["\\boxed{air,ease,tower}", "correct", "correct"],
  ["\\boxed{air， ease， tower}", "correct", "correct"],
  ["\\boxed{\\text{air, ease, tower}}", "wrong", "correct"],
  ["\\boxed{ease,air,tower}", "wrong", "wrong"],
  ["\\boxed{air,ease}", "wrong", "wrong"],
  ["\\boxed{air,ease,tower,}", "wrong", "wrong"],
  ["\\boxed{Air,ease,tower}", "wrong", "wrong"],
  ["\\boxed{}", "wrong", "wrong"],
  ["air,ease,tower", "wrong", "wrong"],
]);
