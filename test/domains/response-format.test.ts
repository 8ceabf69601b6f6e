import { expect, test } from "vitest";
import { extractAnswer } from "../../lib/domains/response-format.ts";
import type { FinishReason } from "../../lib/records.ts";

const extract = (text: string, finish: FinishReason = "eos") => extractAnswer({ text, finish }, 20);

test.each([
  ["<think>4+4=3</think>3<eos>", "3"],
  ["<think></think>3", "3"],
  ["</think> 3 <eos>", "3"],
  ["<think>a</think>b</think>c<eos>", "c"],
  ["<think>a</think>x<eos>y", "x<eos>y"],
])("the answer of %j is %j", (text, answer) => {
  expect(extract(text)).toEqual({ answer });
});

test.each([
  ["no </think>", "<think>4+4=3 3<eos>", "eos", "no_answer"],
  ["response not finished", "<think></think>3", "length", "no_answer"],
  ["response not finished", "<think></think>3", "abort", "no_answer"],
  ["empty answer", "<think>3</think><eos>", "eos", "no_answer"],
  ["empty answer", "<think>3</think>  \n<eos>", "stop", "no_answer"],
  ["no </think>", "", "eos", "no_answer"],
  ["answer longer than 20 characters", `</think>${"3".repeat(21)}<eos>`, "eos", "unparsable"],
] as const)("%s", (reason, text, finish, status) => {
  expect(extract(text, finish)).toEqual({ verdict: { status, score: 0, reason } });
});
