import { expect, test } from "vitest";
import { judgeAs } from "../../judge.ts";
import { testVerdicts } from "../../verdicts.ts";

// Deliberate faults (mutants) that these tests detect: strict checks the givens as the reference reads them.

const puzzle = (marker: string, rows: string[], prefilled_coords = [[0, 1]]) => ({
  question: `A puzzle.\n\n${marker}\n${rows.join("\n")}\n\nConstraints:\n(1,1) < (2,1)`,
  metadata: { grid_size: 3, prefilled_coords, constraints: [[[0, 0], [1, 0], "<"]] }, // biome-ignore format: a row
});
const english = puzzle("Current puzzle:", ["X 2 X", "X X X", "X X X"]);
const chinese = puzzle("当前题目：", ["X 2 X", "X X X", "X X X"]);
const GOLD = "[[1 2 3,2 3 1,3 1 2]]";
const NOT_GIVEN = "[[2 1 3,3 2 1,1 3 2]]"; // obeys the sign, but 2 is in the wrong place

testVerdicts("futoshiki", english, [
  ["the square", GOLD, "correct"],
  ["another square", "[[1 2 3,3 1 2,2 3 1]]", "correct"],
  ["the last of two", `[[3 2 1,2 1 3,1 3 2]] rather ${GOLD}`, "correct"],
  ["the last of two, wrong", `${GOLD} rather [[3 2 1,2 1 3,1 3 2]]`, "an inequality does not hold"],
  ["an empty box after it", `${GOLD} [[]]`, "correct"],
  ["one bracket too many", `[${GOLD}]`, "correct", "no grid [[a b,c d]]"],
  ["a given digit changed", NOT_GIVEN, "a given digit was changed"],
  ["an inequality broken", "[[3 2 1,2 1 3,1 3 2]]", "an inequality does not hold"],
  ["a row that repeats", "[[1 2 2,2 3 1,3 1 2]]", "a row or column repeats"],
  ["a column that repeats", "[[1 2 3,2 3 1,1 2 3]]", "a row or column repeats"],
  ["a digit too large", "[[1 2 4,2 4 1,4 1 2]]", "a row or column repeats"],
  ["a row short", "[[1 2,2 3 1,3 1 2]]", "grid of another size"],
  ["nested python lists", "[[1, 2, 3], [2, 3, 1], [3, 1, 2]]", "no grid [[a b,c d]]"],
  ["words in a row", "[[first 1 2 3,2 3 1,3 1 2]]", "correct", "no grid [[a b,c d]]"],
  ["no grid", "1 2 3, 2 3 1, 3 1 2", "no grid [[a b,c d]]"],
]);

testVerdicts("futoshiki", chinese, [
  ["the square of a Chinese question", GOLD, "correct"],
  ["a given digit changed, in Chinese", NOT_GIVEN, "correct", "a given digit was changed"],
]);

// The reference skips a row without an X, and so takes the 2 from the row below.
testVerdicts("futoshiki", puzzle("Current puzzle:", ["1 2 3", "X 3 X", "X X X"]), [
  ["a full row shifts the reference's givens", GOLD, "a given digit was changed", "correct"],
]);
testVerdicts(
  "futoshiki",
  puzzle(
    "Current puzzle:",
    ["1 2 X", "2 3 1", "3 X X"],
    [
      [0, 0],
      [2, 0],
    ],
  ),
  [
    ["a full row ends the reference's reading", "[[1 3 2,2 1 3,3 2 1]]", "correct"],
    ["so a later given may change", "[[1 2 3,3 1 2,2 3 1]]", "correct", "a given digit was changed"],
  ],
);

test.each([
  ["no marker", { ...english, question: "X 2 X\nX X X\nX X X" }],
  [
    "a given that is not shown",
    { ...english, metadata: { ...english.metadata, prefilled_coords: [[2, 2]] } },
  ],
])("a question with %s is refused", async (_, bad) => {
  await expect(judgeAs("futoshiki")(bad, GOLD)).rejects.toThrow(
    "logic: futoshiki: question: does not show every given digit",
  );
});

test("many brackets are read in linear time", async () => {
  const started = performance.now();
  for (const text of ["[[".repeat(400_000), "]]".repeat(400_000), "[[1]".repeat(200_000)]) {
    expect(await judgeAs("futoshiki")(english, text)).toBe("wrong: no grid [[a b,c d]]");
  }
  expect(performance.now() - started).toBeLessThan(15_000);
});
