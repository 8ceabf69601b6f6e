import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

// Deliberate faults (mutants) that these tests detect: a tree is never reassigned to another tent; corners do not
// count as touching.

const board = (...rows: string[]) => rows.map((row) => [...row]);
const answer = (...rows: string[]) => JSON.stringify(board(...rows));
const data = {
  metadata: { grid: board("XTX", "XXX", "TXX"), row_constraints: [1, 0, 1], col_constraints: [0, 1, 1] },
};

testVerdicts("campsite", data, [
  ["tents beside their trees", answer("XTC", "XXX", "TCX"), "correct"],
  ["single quotes and a fence", fenced(answer("XTC", "XXX", "TCX").replaceAll('"', "'")), "correct"],
  ["tuples inside", "[[]] no", "grid of another size"],
  ["the first of two grids", `${answer("XTC", "XXX", "TCX")} ${answer("XXX")}`, "correct"],
  [
    "the first of two grids, wrong",
    `${answer("XTX", "XXX", "TXX")} ${answer("XTC", "XXX", "TCX")}`,
    "a row's tents",
  ],
  ["a moved tree", answer("TXC", "XXX", "TCX"), "trees were moved"],
  ["a tent on a tree", answer("XCC", "XXX", "TCX"), "trees were moved"],
  ["a tree too many", answer("XTC", "XXX", "TCT"), "trees were moved"],
  ["another column", answer("CTX", "XXX", "TCX"), "a column's tents"],
  ["another row", answer("XTX", "XXC", "TCX"), "a row's tents"],
  ["no tents", answer("XTX", "XXX", "TXX"), "a row's tents"],
  ["a shorter grid", answer("XTC", "XXX"), "grid of another size"],
  ["not quoted", "[[X,T,C],[X,X,X],[T,C,X]]", "no grid"],
  ["other marks for empty", answer("XTC", "...", "TCX"), "correct", "a cell is not T, C or X"],
  ["no grid", "tents everywhere", "no grid"],
]);

const rows = (grid: string[], row_constraints: number[], col_constraints: number[]) => ({
  metadata: { grid: board(...grid), row_constraints, col_constraints },
});
testVerdicts("campsite", rows(["TXX", "XXT"], [1, 1], [0, 2, 0]), [
  ["tents above each other touch", answer("TCX", "XCT"), "two tents touch"],
]);
testVerdicts("campsite", rows(["TXX", "XXX", "XXT"], [0, 2, 0], [1, 0, 1]), [
  ["tents two apart", answer("TXX", "CXC", "XXT"), "correct"],
]);
testVerdicts("campsite", rows(["TXXX", "XXXT"], [1, 1], [0, 1, 1, 0]), [
  ["tents at a corner of each other touch", answer("TCXX", "XXCT"), "two tents touch"],
]);
// Both tents are beside the left tree only: the counts are right, but the pairs are not.
testVerdicts("campsite", rows(["XTXXT"], [2], [1, 0, 1, 0, 0]), [
  ["a tree without a tent", answer("CTCXT"), "trees and tents do not pair"],
]);
// The search first pairs the upper tent with the middle tree, which is the lower tent's only tree.
testVerdicts("campsite", rows(["TXX", "XTX", "XXX"], [1, 0, 1], [0, 2, 0]), [
  ["pairs found only by moving one", answer("TCX", "XTX", "XCX"), "correct"],
]);

testRefusals("campsite", data, [
  [{ row_constraints: [1] }, /campsite: game_data\.metadata: constraints for another grid/],
  [{ grid: [["X"], []] }, /game_data\.metadata\.grid/],
]);
