import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

// The rows sum to 1+3 and 2, the columns to 1, 2 and 1.
const data = { metadata: { row_sums: [4, 2], col_sums: [1, 2, 1], n: 2, m: 3 } };
const GOLD = '[["1","X","1"],["X","1","X"]]';

testVerdicts("kukurasu", data, [
  ["the grid", GOLD, "correct"],
  ["spread over lines in a fence", fenced('[\n  ["1", "X", "1"],\n  ["X", "1", "X"]\n]'), "correct"],
  ["the first of two", `${GOLD}, not [["1"]]`, "correct"],
  ["the first of two, wrong", `[["1"]], not ${GOLD}`, "grid of another size"],
  ["a grid of other cells is passed over", `[["?"]] and ${GOLD}`, "correct"],
  ["a grid that breaks off is passed over", `[["1","X"],["X", ${GOLD}`, "correct"],
  ["weights from the other side", '[["X","1","X"],["1","X","1"]]', "a row's sum"],
  [
    "rows right, columns wrong",
    '[["1","X","1"],["X","1","X"]]'.replace('"X","1","X"', '"1","X","X"'),
    "a row's sum",
  ],
  ["a row too few", '[["1","X","1"]]', "grid of another size"],
  ["rows of different lengths", '[["1","X","1"],["X","1"]]', "grid of another size"],
  ["single quotes", GOLD.replaceAll('"', "'"), 'no grid of "1" and "X"'],
  ["numbers", "[[1,0,1],[0,1,0]]", 'no grid of "1" and "X"'],
  ["zeros", '[["1","0","1"],["0","1","0"]]', 'no grid of "1" and "X"'],
]);

testVerdicts("kukurasu", { metadata: { row_sums: [3, 3], col_sums: [1, 1, 2], n: 2, m: 3 } }, [
  ["1+2 and 3", '[["1","1","X"],["X","X","1"]]', "correct"],
  ["rows hold, columns do not", '[["X","X","1"],["1","1","X"]]', "a column's sum"],
]);

testRefusals("kukurasu", data, [
  [{ n: "2" }, /kukurasu: game_data\.metadata\.n/],
  [{ row_sums: [1.5] }, /game_data\.metadata\.row_sums\.0/],
]);
