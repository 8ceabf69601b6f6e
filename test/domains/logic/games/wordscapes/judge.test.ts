import { expect, test } from "vitest";
import { judgeAs } from "../../judge.ts";
import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

// Deliberate faults (mutants) that these tests detect: letters outside of words are not counted.

//   c a t
//     r
//     m
const grid = [["X", "X", "X"], ["0", "X", "0"], ["0", "X", "0"]]; // biome-ignore format: a board
const data = { metadata: { grid, across_words: ["cat"], down_words: ["arm"] } };
const GOLD = '[["c","a","t"],[" ","r"," "],[" ","m"," "]]';

testVerdicts("wordscapes", data, [
  ["the letters", GOLD, "correct"],
  ["capitals", GOLD.toUpperCase(), "correct"],
  ["in a fence, over lines", fenced(GOLD.replaceAll("],[", "],\n [")), "correct"],
  ["single quotes", GOLD.replaceAll('"', "'"), "correct"],
  ["zeros for blank", GOLD.replaceAll('" "', '"0"'), "correct"],
  ["nothing for blank", GOLD.replaceAll('" "', '""'), "correct"],
  ["bare letters", "[[c a t], [0 r 0], [0 m 0]]", "correct"],
  ["three opening brackets", `[${GOLD}]`, "correct"],
  ["the first of two grids", `${GOLD} ${GOLD.replace("r", "i")}`, "correct"],
  ["the first of two grids, wrong", `${GOLD.replace("r", "i")} ${GOLD}`, "a word is missing"],
  ["after the thought", `<think>[["x"]]</think>${GOLD}`, "correct"],
  ["a letter in a blank", GOLD.replace('" "', '"s"'), "letters elsewhere than in the marked cells"],
  ["a blank among the letters", GOLD.replace('"c"', '" "'), "letters elsewhere than in the marked cells"],
  ["the words the other way round", '[["c","r","t"],[" ","a"," "],[" ","m"," "]]', "a word is missing"],
  ["a row short", '[["c","a","t"],[" ","r"," "]]', "grid of another size"],
  ["no grid", "cat and arm", "no grid"],
  ["brackets alone", "[[]]", "no grid", "no grid"],
  [
    "a word squeezed into a cell",
    '[["cat","a","t"],[" ","r"," "],[" ","m"," "]]',
    "correct",
    "a cell is not one letter",
  ],
  ["a digit for a letter", GOLD.replace('"c"', '"1"'), "a word is missing", "a cell is not one letter"],
]);

const gap = { metadata: { grid: [["X", "0", "X", "X"]], across_words: ["cat"], down_words: [] } };
testVerdicts("wordscapes", gap, [
  ["a word across a gap", '[["c"," ","a","t"]]', "correct", "a word is missing"],
]);

const pair = {
  metadata: {
    grid: [
      ["X", "X", "X"],
      ["0", "0", "0"],
      ["X", "X", "X"],
    ],
    across_words: ["cat", "cat"],
    down_words: [],
  },
};
testVerdicts("wordscapes", pair, [
  ["a word listed twice stands twice", '[["c","a","t"],["","",""],["c","a","t"]]', "correct"],
  ["not once", '[["c","a","t"],["","",""],["d","o","g"]]', "correct", "a word is missing"],
]);
const stray = { metadata: { ...pair.metadata, across_words: ["cat"] } };
testVerdicts("wordscapes", stray, [
  ["letters of no word", '[["c","a","t"],["","",""],["d","o","g"]]', "correct", "a letter of no word"],
]);

testRefusals("wordscapes", data, [
  [{ grid: [["Y"]] }, /wordscapes: game_data\.metadata\.grid\.0\.0/],
  [{ down_words: "arm" }, /game_data\.metadata\.down_words/],
]);

test("long rows of brackets and commas are read in linear time", async () => {
  const started = performance.now();
  for (const text of [`[[${",".repeat(900_000)}x]]`, `[[${'"'.repeat(900_001)}]]`, "[".repeat(900_000)]) {
    expect(await judgeAs("wordscapes")(data, text)).toMatch(/^wrong: /);
  }
  expect(performance.now() - started).toBeLessThan(15_000);
});
