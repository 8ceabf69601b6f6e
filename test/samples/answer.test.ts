import { expect, test } from "vitest";
import { comparableAnswer, readCompletion, wordsOf } from "../../lib/samples/answer.ts";

test.each([
  ["<think>a b</think> c", { thought: "a b", response: " c", unclosed: false }],
  ["x <think>a</think>b<think>c</think>d", { thought: "a</think>b<think>c", response: "d", unclosed: false }],
  ["no marks", { thought: undefined, response: "no marks", unclosed: false }],
  ["a</think>b", { thought: "a", response: "b", unclosed: false }],
  ["</think>b<think>c", { thought: "</think>b<think>c", response: "", unclosed: true }],
  ["<think>never ends", { thought: "never ends", response: "", unclosed: true }],
  ["", { thought: undefined, response: "", unclosed: false }],
])("%j is cut at its marks", (text, read) => {
  expect(readCompletion(text)).toEqual(read);
});

test("answers that differ in space alone are one; a box counts for the text around it", () => {
  expect(comparableAnswer("<think>1</think> so \\boxed{1,000}.")).toBe(
    comparableAnswer("\\boxed{1000} indeed"),
  );
  expect(comparableAnswer("<think>x</think> a \n b ")).toBe("a b");
  expect(comparableAnswer("<think>x</think>  ")).toBeUndefined();
  expect(comparableAnswer("<think>\\boxed{1} never ends")).toBeUndefined();
});

test("words tell texts apart and are never both 0", () => {
  const words = new Set(Array.from({ length: 1000 }, (_, i) => wordsOf(`${i}`).join()));
  expect(words.size).toBe(1000);
  expect(wordsOf("a")).toEqual(wordsOf("a"));
  expect(wordsOf("a")[1]).not.toBe(0);
});
