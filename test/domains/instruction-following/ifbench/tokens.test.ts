// Deliberate faults (mutants) that these tests detect: sentences are not split before tokens; tokens with a letter
// inside marks are dropped; "_" is kept.
import { expect, test } from "vitest";
import { wordlike, wordTokensOf } from "../../../../lib/domains/instruction-following/ifbench/tokens.ts";

test("tokens of a text are those of its sentences, of which each parts its own last dot", () => {
  expect(wordTokensOf('I can\'t. "Go" now.')).toEqual(["I", "ca", "n't", ".", "``", "Go", "''", "now", "."]);
  expect(wordTokensOf("")).toEqual([]);
});

test("a token is a word when a letter or a numeral is in it", () => {
  expect(wordlike(["I", "n't", "``", ".", "3.14", "--", "日本", "½", "_", "😀", "a-b"])).toEqual([
    "I",
    "n't",
    "3.14",
    "日本",
    "½",
    "a-b",
  ]);
});
