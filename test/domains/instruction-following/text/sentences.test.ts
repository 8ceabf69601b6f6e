import { expect, test } from "vitest";
import { splitSentences } from "../../../../lib/domains/instruction-following/text/sentences.ts";
import { FROZEN_SPLITS } from "../frozen/splits.ts";

// Deliberate faults (mutants) that these tests detect: digits are looked ahead at instead of consumed ("1.2.3"); the
// last empty sentence is kept; company suffixes end no sentence.
test.each([
  ["Hi!!", ["Hi!", "!"]],
  ["", []],
  ["  ", []],
  ["no end", ["no end"]],
  ["Dr. Who met Mr. T. Really?", ["Dr. Who met Mr. T. Really?"]],
  ["v1.2.3 is out.", ["v1.2.", "3 is out."]],
  ["Pi is 3.14. Yes", ["Pi is 3.14.", "Yes"]],
  ["See a.com. Go", ["See a.com.", "Go"]],
  ["Wait... what", ["Wait...", "what"]],
  ["A Ph.D. is hard. So", ["A Ph.D. is hard.", "So"]],
  ["In the U.S. He won.", ["In the U.S.", "He won."]],
  ["In the U.S. people won.", ["In the U.S. people won."]],
  ["An Inc. He won", ["An Inc", "He won"]],
  ["An Inc. of note", ["An Inc. of note"]],
  ['He said "no." Then', ['He said "no".', "Then"]],
  ['"Why?" she', ['"Why"?', "she"]],
  ["“No.” Then", ["“No”.", "Then"]],
  ["one\ntwo. three", ["one two.", "three"]],
  ["你好。世界", ["你好。世界"]],
])("%j is %j", (text, expected) => {
  expect(splitSentences(text)).toEqual(expected);
});

test("random texts are split as in Python", () => {
  for (const [text, sentences] of FROZEN_SPLITS)
    expect([text, splitSentences(text)]).toEqual([text, sentences]);
});

test("a long run of anything is split in linear time", () => {
  const start = performance.now();
  for (const unit of [".", "! ", "A.", " a. ", "Mr. ", " Inc. He ", "\n", "1.", "<stop>"])
    splitSentences(unit.repeat(2e5 / unit.length));
  expect(performance.now() - start).toBeLessThan(15_000);
});
