import { expect, test } from "vitest";
import { wordTokens } from "../../../../lib/domains/instruction-following/text/treebank.ts";
import { FROZEN_SENTENCES } from "../frozen/sentences.ts";

// Expected values follow the published conventions and NLTK 3.10's word_tokenize on the same sentences. Deliberate
// faults (mutants) that these tests detect: closers are not skipped; the dots of an ellipsis are split; commas inside
// a number are split; clitics match without the space after them.
test.each([
  ["Don't stop, they're gonna win.", ["Do", "n't", "stop", ",", "they", "'re", "gon", "na", "win", "."]],
  ["I cannot; 'tis 1,234.56%", ["I", "can", "not", ";", "'", "tis", "1,234.56", "%"]],
  ['He said "no."', ["He", "said", "``", "no", ".", "''"]],
  ["(At last.)", ["(", "At", "last", ".", ")"]],
  ["In the U.S. he", ["In", "the", "U.S.", "he"]],
  ["Wait... what?!", ["Wait", "...", "what", "?", "!"]],
  ["“Curly” ‘ones’ «too»", ["“", "Curly", "”", "‘", "ones", "’", "«", "too", "»"]],
  ["a -- b — c–d", ["a", "--", "b", "—", "c", "–", "d"]],
  ["**bold** <x> [y] {z}", ["*", "*", "bold", "*", "*", "<", "x", ">", "[", "y", "]", "{", "z", "}"]],
  ["'quoted' words' end", ["'", "quoted", "'", "words", "'", "end"]],
  ["`code` ``two``", ["`", "code", "`", "``", "two", "``"]],
  ["time: 10:30,ok", ["time", ":", "10:30", ",", "ok"]],
  ["wanna wannabe Gimme", ["wan", "na", "wannabe", "Gim", "me"]],
  ["gonna'tis", ["gon", "na", "'t", "is"]],
  ["a don't-care", ["a", "don't-care"]],
  ["end:\n", ["end", ":"]],
  [".", ["."]],
  ["..", [".."]],
  ["", []],
])("%j is %j", (sentence, expected) => {
  expect(wordTokens([sentence])).toEqual(expected);
});

test("each sentence parts its own last dot", () => {
  expect(wordTokens(["See etc.", "Go."])).toEqual(["See", "etc", ".", "Go", "."]);
});

test("tokens of random sentences are those of the published rules", () => {
  for (const [text, sentences, tokens] of FROZEN_SENTENCES)
    expect([text, wordTokens(sentences)]).toEqual([text, tokens]);
});

test("a long run of anything is tokenized in linear time", () => {
  const start = performance.now();
  for (const unit of [".", " ", "'", '"', "a. ", "`", ") ", "can", "a' ", ":"]) {
    wordTokens([unit.repeat(2e5 / unit.length)]);
    wordTokens([`a.${unit.repeat(2e5 / unit.length)}x`]);
  }
  expect(performance.now() - start).toBeLessThan(15_000);
});
