import { expect, test } from "vitest";
import {
  ABBREVIATIONS,
  COLLOCATIONS,
  COMMON_NAMES,
  SENTENCE_STARTERS,
  SENTENCE_WORDS,
} from "../../../../lib/domains/instruction-following/text/punkt-words.ts";
import { CASE_FOLDER, sharedRows } from "../shared-cases.ts";

test("a word is in one list of spellings only, in lower case", () => {
  for (const word of SENTENCE_WORDS) expect([word, COMMON_NAMES.has(word)]).toEqual([word, false]);
  for (const word of [...SENTENCE_WORDS, ...COMMON_NAMES, ...SENTENCE_STARTERS, ...ABBREVIATIONS])
    expect(word).toBe(word.toLowerCase());
});

test("tables are as long as published, the words fewer", () => {
  expect([ABBREVIATIONS.size, SENTENCE_STARTERS.size, COLLOCATIONS.size]).toEqual([156, 39, 37]);
  expect(SENTENCE_WORDS.size + COMMON_NAMES.size).toBeLessThan(4000);
});

interface Published {
  abbrev_types: string[];
  sent_starters: string[];
  collocations: [string, string][];
  ortho_context: Record<string, number>;
}
const [published] = sharedRows<Published>("punkt_english.json");

/** Bits of the published spelling contexts: capitalised inside a sentence; in lower case anywhere. */
const MIDDLE_UPPER = 4;
const LOWER = 16 | 32 | 64;

test.skipIf(published === undefined)(`every fact agrees with the parameters under ${CASE_FOLDER}`, () => {
  const { abbrev_types, sent_starters, collocations, ortho_context } = published!;
  expect(new Set(abbrev_types)).toEqual(ABBREVIATIONS);
  expect(new Set(sent_starters)).toEqual(SENTENCE_STARTERS);
  expect(new Set(collocations.map((pair) => pair.join(" ")))).toEqual(COLLOCATIONS);
  const context = (word: string) => ortho_context[word] ?? 0;
  const wrong = [
    ...[...SENTENCE_WORDS].filter((word) => !(context(word) & LOWER) || context(word) & MIDDLE_UPPER),
    ...[...COMMON_NAMES].filter((word) => !(context(word) & LOWER) || !(context(word) & MIDDLE_UPPER)),
  ];
  expect(wrong).toEqual([]);
});
