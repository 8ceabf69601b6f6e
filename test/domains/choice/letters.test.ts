import { expect, test } from "vitest";
import { isWord, lettersFor, MOST_CHOICES } from "../../../lib/domains/choice/letters.ts";

test("letters go as far as the options do, at least to J and at most to Z", () => {
  expect([2, 10, 11, 20, MOST_CHOICES, 99].map(lettersFor)).toEqual([
    "A-J",
    "A-J",
    "A-K",
    "A-T",
    "A-Z",
    "A-Z",
  ]);
});

test.each([
  ["A", " cat", true],
  ["a", " matter of taste", true],
  ["I", " think", true],
  ["A", " and C is wrong", false],
  ["A", " is right", false],
  ["A", ", a cat", false],
  ["A", " Cat", false],
  ["I", " and G", false],
  ["I", " and you", true],
  ["H", " cat", false],
])("%s%s is a word: %s", (letter, after, word) => {
  expect(isWord(letter, after)).toBe(word);
});
