import { expect, test } from "vitest";
import { judgeAs } from "../../judge.ts";
import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

const data = { metadata: { current_mines: [[0, 1], [2, 3]] } }; // biome-ignore format: a row

testVerdicts("minesweeper", data, [
  ["a list of tuples", "[(0, 1), (2, 3)]", "correct"],
  ["in any order, one twice", "[(2,3),(0,1),(2,3)]", "correct"],
  ["in a fence", fenced("[(0, 1), (2, 3)]"), "correct"],
  ["a list of lists", "The mines: [[0, 1], [2, 3]]", "correct"],
  ["bare tuples", "They are (0, 1) and (2, 3).", "correct"],
  ["bare numbers", "0 1, 2 3", "correct"],
  ["lists at two places count together", "[(0, 1)] and then [(2, 3)]", "correct"],
  ["tuples in a list before bare ones", "(9, 9) is none: [(0, 1), (2, 3)]", "correct"],
  ["lists of tuples before lists of lists", "[[9, 9]] [(0, 1), (2, 3)]", "correct"],
  ["one or another", "(0, 1), (2, 3 or 3)", "other mines"],
  ["bare numbers, one or another", "0 1, 2 3 or 4", "correct", "two numbers for one"],
  ["one missing", "[(0, 1)]", "other mines"],
  ["one too many", "[(0, 1), (2, 3), (3, 3)]", "other mines"],
  ["counted from 1", "[(1, 2), (3, 4)]", "other mines"],
  ["rows and columns swapped", "[(1, 0), (3, 2)]", "other mines"],
  ["an empty list", "[]", "other mines"],
  ["nothing to read", "none", "other mines", "no mines listed"],
]);

testVerdicts("minesweeper", { metadata: { current_mines: [] } }, [
  ["no mine is certain", "[ ]", "correct"],
  ["saying nothing is not saying so", "I cannot tell", "correct", "no mines listed"],
  ["a mine where none is certain", "[(0, 0)]", "other mines"],
]);

testRefusals("minesweeper", data, [
  [{ current_mines: undefined }, /minesweeper: game_data\.metadata\.current_mines/],
  [{ current_mines: [[1]] }, /game_data\.metadata\.current_mines\.0/],
]);

test.each([
  ["digits", "1".repeat(1_000_000)],
  ["tuples in a list that never ends", `[${"(1,1),".repeat(80_000)}`],
  ["openings", "[(".repeat(500_000)],
  ["blanks", `[${" ".repeat(1_000_000)}`],
])("very many %s are read in linear time", async (_, text) => {
  const started = performance.now();
  expect(await judgeAs("minesweeper")(data, text)).toMatch(/^wrong/);
  expect(performance.now() - started).toBeLessThan(15_000);
});
