import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

// 1 2 3 / 2 3 1 / 3 1 2 with a region for each operation; 1 and 2 of the product are in different rows.
const regions = [
  { cells: ["(1,1)", "(2,1)", "(3,1)"], target: 6, operator: "+" },
  { cells: ["(1,2)", "(2,2)"], target: 6, operator: "*" },
  { cells: ["(1,3)", "(2,3)"], target: 2, operator: "-" },
  { cells: ["(3,2)", "(3,3)"], target: 2, operator: "÷" },
];
const data = { metadata: { grid_size: 3, regions } };
const GOLD = "[[1 2 3,2 3 1,3 1 2]]";

testVerdicts("calcudoko", data, [
  ["the grid", `The answer is ${GOLD}.`, "correct"],
  ["blanks around the digits", "[[ 1  2 3 , 2 3 1,3 1 2 ]]", "correct"],
  ["a python block", fenced("1 2 3,2 3 1,3 1 2"), "correct"],
  ["the first of two", `${GOLD} not [[1 2 3]]`, "correct"],
  ["the first of two, wrong", `[[1 2 3]] not ${GOLD}`, "a row or column repeats", "grid of another size"],
  ["rows and columns swapped breaks a region", "[[2 1 3,1 3 2,3 2 1]]", "6* does not hold"],
  ["a sum that is off", "[[1 2 3,2 3 1,3 1 1]]", "a row or column repeats"],
  ["a digit too large", "[[1 2 4,2 3 1,3 1 2]]", "a row or column repeats"],
  ["nested python lists", "[[1, 2, 3], [2, 3, 1], [3, 1, 2]]", "grid of another size", "no grid [[a b,c d]]"],
  ["no grid", "1 + 2", "a row or column repeats", "no grid [[a b,c d]]"],
  ["a row short of its 1", "[[1 2 3,2 3,3 1 2]]", "correct", "grid of another size"],
  ["a row with one too many", "[[1 2 3,2 3 1 9,3 1 2]]", "correct", "grid of another size"],
  ["rows too many", "[[1 2 3,2 3 1,3 1 2,1 2 3]]", "correct", "grid of another size"],
  ["words among the digits", "[[one 1 2 3,two 2 3 1,3 1 2]]", "correct", "no grid [[a b,c d]]"],
  ["rows by name", "Row 1: 1 2 3\nRow 2: 2 3 1,\nRow 3: 3 1 2\n, 4", "correct", "no grid [[a b,c d]]"],
]);

const square = (operator: string, target: number, cells = ["(1,1)", "(1,2)"]) => ({
  metadata: { grid_size: 3, regions: [{ cells, target, operator }] },
});
testVerdicts("calcudoko", square("-", 1), [["a difference of two cells", GOLD, "correct"]]);
testVerdicts("calcudoko", square("-", -1), [["in either order", GOLD, "correct"]]);
testVerdicts("calcudoko", square("÷", 2), [["a ratio", GOLD, "correct"]]);
testVerdicts("calcudoko", square("÷", 0.5), [["in either order", GOLD, "correct"]]);
testVerdicts("calcudoko", square("÷", 3), [["another ratio", GOLD, "3÷ does not hold"]]);
testVerdicts("calcudoko", square("*", 3), [["another product", GOLD, "3* does not hold"]]);
testVerdicts("calcudoko", square("-", 0, ["(1,1)", "(1,2)", "(1,3)"]), [
  ["a difference has exactly two cells", GOLD, "0- does not hold"],
]);
testVerdicts("calcudoko", square("+", 2, ["(1,1)", "(2,3)"]), [
  ["a region does not repeat a digit", GOLD, "2+ does not hold"],
]);
testVerdicts("calcudoko", square("+", 1, ["(1,4)"]), [["no cell outside", GOLD, "1+ does not hold"]]);

testRefusals("calcudoko", data, [
  [{ grid_size: 0 }, /calcudoko: game_data\.metadata\.grid_size/],
  [{ regions: [{ cells: ["1 1"], target: 1, operator: "+" }] }, /game_data\.metadata\.regions\.0\.cells\.0/],
]);
