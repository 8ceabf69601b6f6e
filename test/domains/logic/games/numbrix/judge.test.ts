import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

const data = { metadata: { grid: [[1, "X", "X"], ["X", "X", 4], ["X", "X", 9]] } }; // biome-ignore format: a board
const GOLD = "[[1, 2, 3], [6, 5, 4], [7, 8, 9]]";

testVerdicts("numbrix", data, [
  ["the path", GOLD, "correct"],
  ["in a fence, over lines", fenced("[\n [1,2,3],\n [6,5,4],\n [7,8,9]\n]"), "correct"],
  ["the last of two", `[[1,2],[4,3]] then ${GOLD}`, "correct"],
  ["the last of two, wrong", `${GOLD} then [[1,2],[4,3]]`, "grid of another size"],
  ["quotes are dropped inside", '[[1, "2", 3], [6, 5, 4], [7, 8, 9]]', "correct"],
  ["but a grid begins with a digit", '[["1", 2, 3], [6, 5, 4], [7, 8, 9]]', "no grid of numbers"],
  ["a given number moved", "[[1, 2, 3], [8, 9, 4], [7, 6, 5]]", "a given number was changed"],
  ["a jump", "[[1, 2, 3], [5, 6, 4], [7, 8, 9]]", "two neighbours on the path lie apart"],
  ["a diagonal step", "[[1, 3, 2], [6, 5, 4], [7, 8, 9]]", "two neighbours on the path lie apart"],
  [
    "from the end of a row to the next",
    "[[1, 2, 3], [5, 6, 4], [7, 8, 9]]",
    "two neighbours on the path lie apart",
  ],
  ["a number twice", "[[1, 2, 2], [6, 5, 4], [7, 8, 9]]", "a number is missing"],
  ["a zero", "[[1, 2, 3], [6, 5, 4], [7, 0, 9]]", "a number is missing"],
  ["a fraction", "[[1, 2.0, 3], [6, 5, 4], [7, 8, 9]]", "a number is missing"],
  ["tuples", "((1, 2, 3), (6, 5, 4), (7, 8, 9))", "no grid of numbers"],
  ["rows of different lengths", "[[1, 2, 3, 4], [6, 5], [7, 8, 9]]", "grid of another size"],
  ["an expression", "[[1, 1+1, 3], [6, 5, 4], [7, 8, 9]]", "no grid of numbers"],
]);

testRefusals("numbrix", data, [
  [{ grid: [[1, "X"]] }, /numbrix: game_data\.metadata\.grid: not a square/],
  [{ grid: [["Y"]] }, /game_data\.metadata\.grid\.0\.0/],
]);
