import { expect, test } from "vitest";
import { askedForm } from "../../../../lib/domains/math/read/asked-form.ts";
import { math } from "../../../../lib/domains/math/verify.ts";

test.each([
  ["The last line should be of the form Answer: $Answer (without quotes), where $Answer is it.", "Answer:"],
  ['Put it on its own line after "Answer:", and you do not need a \\boxed command.', "Answer:"],
  ["Use this format:\nAnswer: <number>", "Answer:"],
  ['Think, and give the final answer after "####".', "####"],
  ["Put it between <answer> and </answer>, in \\boxed{}.", "<answer>"],
  ["Put your final answer within \\boxed{}.", undefined],
  ["#### Problem\nHow many? Answer within \\boxed{}.", undefined],
])("%j asks for it behind %s; that is what its shortest completion does", (prompt, after) => {
  const form = askedForm(prompt)!;
  expect(form.after).toBe(after);
  const reference = math.parseReference({ answer: "\\frac12", ...(after && { after }) });
  expect(math.verify({ text: form.stated("\\frac12"), finish: "stop" }, reference)).toMatchObject({
    status: "correct",
  });
});

test.each([
  "What is 2 + 2?",
  "Put your answer in \\fbox{}.",
  "Two and two make four. Answer: ___",
  "#### Problem\n2 + 2",
])("%j asks for no form", (prompt) => expect(askedForm(prompt)).toBeUndefined());
