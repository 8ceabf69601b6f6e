// Deliberate faults (mutants) that these tests detect: the final e counts; "le" after a vowel counts twice; a number
// has a syllable; the table is not read.
import { expect, test } from "vitest";
import {
  syllables,
  syllablesByRule,
} from "../../../../lib/domains/instruction-following/ifbench/syllables.ts";

test("the rule counts groups of vowels, but a final e only after a consonant and l", () => {
  const words = [
    "cat",
    "banana",
    "queue",
    "make",
    "table",
    "tile",
    "le",
    "rhythm",
    "mr",
    "be",
    "été",
    "yoyo",
    "whole",
  ];
  expect(words.map((word) => [word, syllablesByRule(word)])).toEqual([
    ["cat", 1],
    ["banana", 3],
    ["queue", 1], // one vowel group minus the final e is 0; at least 1
    ["make", 1],
    ["table", 2],
    ["tile", 1],
    ["le", 1],
    ["rhythm", 1],
    ["mr", 1],
    ["be", 1],
    ["été", 1],
    ["yoyo", 1], // y is a vowel everywhere
    ["whole", 1],
  ]);
});

test("a word with a digit in it has no syllables", () => {
  expect([syllables("7th"), syllables("covid19"), syllables("٣rd"), syllables("sky")]).toEqual([0, 0, 0, 1]);
});

test("the table goes before the rule", () => {
  expect([syllables("area"), syllablesByRule("area")]).toEqual([3, 2]);
});
