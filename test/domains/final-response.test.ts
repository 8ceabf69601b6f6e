import { expect, test } from "vitest";
import { finalResponse } from "../../lib/domains/final-response.ts";

test.each([
  ["answer", "answer"],
  [" answer <eos>", "answer"],
  ["<think>5</think> 7 <eos>", "7"],
  ["5</think>6</think>7", "7"],
  ["<think>5", ""],
  ["<think>5</think>6<think>7", ""],
  ["<think>5</think>", ""],
  ["", ""],
  ["5 [BEGIN FINAL RESPONSE] 6 [END FINAL RESPONSE] 7", "6"],
  ["[BEGIN FINAL RESPONSE]5[END FINAL RESPONSE][BEGIN FINAL RESPONSE]6", "6"],
  ["<think>[BEGIN FINAL RESPONSE]5[END FINAL RESPONSE]</think>6", "6"],
])("of %j is %j", (completion, response) => expect(finalResponse(completion)).toBe(response));

test("takes linear time", () => {
  expect(finalResponse("<think></think>".repeat(1 << 18))).toBe("");
  expect(finalResponse("[BEGIN FINAL RESPONSE]".repeat(1 << 16))).toBe("");
});
