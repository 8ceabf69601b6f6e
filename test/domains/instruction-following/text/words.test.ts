// Deliberate faults (mutants) that these tests detect: case is kept; accents are removed; an empty text equals a
// word.
import { expect, test } from "vitest";
import { bareWords, isOtherWord } from "../../../../lib/domains/instruction-following/text/words.ts";

test("words without what is none", () => {
  expect(bareWords("  It's **THE** end... ")).toBe("it s the end");
  expect(bareWords("e\u0301 हिंदी 4")).toBe("e\u0301 हिंदी 4");
  expect(bareWords("— !")).toBe("");
});

test("another word is one in its letters", () => {
  expect(["cats", "dog", "4"].map((word) => isOtherWord("cat", word))).toEqual([true, true, true]);
  expect(["cat", "Cat", "cat,", "*cat*", "", "—"].map((word) => isOtherWord("cat", word))).toEqual(
    Array(6).fill(false),
  );
});
