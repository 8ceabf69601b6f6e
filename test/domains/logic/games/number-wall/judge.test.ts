import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

const data = { metadata: { grid: [[2, "X", "X"], ["X", "X", "X"], ["X", "X", 2]] } }; // biome-ignore format: a board
const GOLD = '[[2, "X", "A"], ["A", "A", "A"], ["A", "X", 2]]';

testVerdicts("number_wall", data, [
  ["islands and walls", fenced(GOLD), "correct"],
  ["another solution", '[[2, "A", "A"], ["X", "A", "X"], ["A", "A", 2]]', "correct"],
  ["single quotes", GOLD.replaceAll('"', "'"), "correct"],
  ["quoted numbers", GOLD.replaceAll("2", '"2"'), "correct"],
  ["both quotes, spread out", `[\n${GOLD.slice(1, -1).replace('"X"', "'X'")}\n]`, "correct"],
  ["the last of two", `${GOLD.replaceAll("A", "X")} no, ${GOLD}`, "correct"],
  ["the last of two, wrong", `${GOLD} no, ${GOLD.replaceAll("A", "X")}`, "an island does not fit"],
  ["a grid of other cells after it", `${GOLD} [["?"]]`, "correct"],
  ["a number changed", GOLD.replace("2", "3"), "a number was changed"],
  ["a number walled up", GOLD.replace("2", '"A"'), "a number was changed"],
  ["a block of wall", '[[2,"A","A"],["X","A","A"],["A","A",2]]', "a 2x2 block of wall"],
  ["an island too large", '[[2,"X","A"],["X","A","A"],["A","X",2]]', "an island does not fit"],
  ["an island too small", '[[2,"A","X"],["A","A","A"],["A","X",2]]', "an island does not fit"],
  ["an island without a number", '[[2,"X","A"],["A","A","A"],["X","A",2]]', "an island does not fit"],
  ["an island with two numbers", '[[2,"X","X"],["A","A","X"],["A","A",2]]', "a 2x2 block of wall"],
  ["rows missing", '[[2,"X","A"]]', "grid of another size"],
  ["a number with a leading zero", GOLD.replace("2", "02"), "a number was changed"],
  ["unquoted letters", "[[2,X,A],[A,A,A],[A,X,2]]", "no grid of X, A and numbers"],
]);

testVerdicts(
  "number_wall",
  {
    metadata: {
      grid: [
        [1, "X", "X"],
        ["X", "X", "X"],
        ["X", "X", 1],
      ],
    },
  },
  [
    [
      "an island made up",
      '[[1,"A",1],["A","A","A"],["A",1,1]]',
      "an island does not fit",
      "a number was added",
    ],
    [
      "an island made up that fits",
      '[[1,"A","A"],["A",1,"A"],["A","A",1]]',
      "an island does not fit",
      "a number was added",
    ],
  ],
);
testVerdicts("number_wall", { metadata: { grid: [[1, "X", "X"]] } }, [
  ["an island made up in a corner", '[[1,"A",1]]', "correct", "a number was added"],
  ["nothing made up", '[[1,"A","A"]]', "correct"],
]);
testVerdicts(
  "number_wall",
  {
    metadata: {
      grid: [
        [1, "X"],
        ["X", 1],
      ],
    },
  },
  [["islands that touch at a corner", '[[1,"A"],["A",1]]', "an island does not fit"]],
);

testRefusals("number_wall", data, [
  [{ grid: [[1, 2], [3]] }, /number_wall: game_data\.metadata\.grid: rows differ in length/],
  [{ grid: [[null]] }, /game_data\.metadata\.grid\.0\.0/],
]);
