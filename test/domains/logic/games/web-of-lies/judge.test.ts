import { testAnswers } from "../../judge.ts";

testAnswers("web_of_lies", { answer: "yes, no" }, [
  ["The answer is **yes, no**.", "correct", "correct"],
  ["the answer is: **Yes, No**.", "correct", "correct"],
  ["The answer is:\n**yes,\nno**。\n", "correct", "correct"],
  ["答案是：**是，否**。", "correct", "correct"],
  ["The answer is yes, no. Sure?", "correct", "correct"],
  ["The answer is **true and lie**", "correct", "correct"],
  ["Well: yes no", "correct", "wrong"],
  ["So:\nyes, no", "correct", "correct"],
  ["Yes, no idea", "correct", "wrong"],
  ["The answer is **yes, no**.\nHope this helps", "correct", "correct"],
  ["no, no\nyes, no\nGoodbye", "wrong", "correct"],
  ["**yes, I do not know**", "wrong", "wrong"],
  ["**yes, not**", "correct", "wrong"],
  ["**yes, I believe**", "correct", "wrong"],
  ["**yes, no, yes**", "wrong", "wrong"],
  ["**yes**", "wrong", "wrong"],
  ["**no, yes**", "wrong", "wrong"],
  ["The answer is unclear", "wrong", "wrong"],
  ["I do not know", "wrong", "wrong"],
  ["****", "wrong", "wrong"],
]);
