// Deliberate faults (mutants) that these tests detect: a word is twice in a list; a list has a word that the rule
// counts right.
import { expect, test } from "vitest";
import { MISCOUNTED } from "../../../../lib/domains/instruction-following/ifbench/syllable-table.ts";
import {
  syllables,
  syllablesByRule,
} from "../../../../lib/domains/instruction-following/ifbench/syllables.ts";

test("words that the rule miscounts are in the table, once, and none that it counts right", () => {
  const listed = MISCOUNTED.flatMap(([count, words]) =>
    words.split(" ").map((word) => [word, count] as const),
  );
  expect(
    listed.filter(([word, count]) => syllablesByRule(word) === count || syllables(word) !== count),
  ).toEqual([]);
  expect(new Set(listed.map(([word]) => word)).size).toBe(listed.length);
  const words = ["area", "every", "baseball", "idea", "science", "being", "constructor", "banana"];
  expect(words.map((word) => [word, syllables(word)])).toEqual([
    ["area", 3],
    ["every", 2],
    ["baseball", 2],
    ["idea", 3],
    ["science", 2],
    ["being", 2],
    ["constructor", 3],
    ["banana", 3],
  ]);
});
