import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

// Deliberate faults (mutants) that these tests detect: strict leaves out the last row and column.

const original_matrix = [[1, 0, 3], [0, 4, 7], [4, 6, 10]]; // biome-ignore format: a board
const data = { metadata: { original_matrix, candidate_numbers: [3, 2], n: 3 } };
const GOLD = "[[1, 2, 3], [3, 4, 7], [4, 6, 10]]";

testVerdicts("survo", data, [
  ["the matrix", fenced(GOLD), "correct"],
  ["a plain fence", fenced(GOLD, ""), "correct"],
  ["no fence", `It is ${GOLD}.`, "correct"],
  ["fractions of one", fenced(GOLD.replace("2", "2.0")), "correct"],
  ["the last of two blocks", `${fenced("[[1]]")} ${fenced(GOLD)}`, "correct"],
  ["a python block before a later plain one", `${fenced(GOLD)} ${fenced("[[1]]", "")}`, "correct"],
  ["the last of two matrices", `${GOLD} or [[1, 2]]`, "matrix of another size"],
  ["an assignment", fenced(`m = ${GOLD}`), "no matrix of numbers"],
  ["tuples", fenced(GOLD.replaceAll("[", "(").replaceAll("]", ")")), "no matrix of numbers"],
  ["strings", fenced(GOLD.replaceAll(/(\d+)/g, "'$1'")), "no matrix of numbers"],
  ["a given number changed", fenced("[[2, 2, 4], [3, 4, 7], [5, 6, 11]]"), "a given number was changed"],
  ["candidates swapped", fenced("[[1, 3, 3], [2, 4, 7], [4, 6, 10]]"), "a sum does not hold"],
  [
    "a number that is no candidate",
    fenced("[[1, 2, 3], [4, 4, 7], [4, 6, 10]]"),
    "other numbers than the candidates",
  ],
  ["a candidate twice", fenced("[[1, 2, 3], [2, 4, 7], [4, 6, 10]]"), "other numbers than the candidates"],
  ["blanks left", fenced(JSON.stringify(original_matrix)), "other numbers than the candidates"],
  ["rows of different lengths", fenced("[[1, 2, 3], [3, 4], [4, 6, 10]]"), "matrix of another size"],
  ["infinity", fenced(GOLD.replace("2", "1e999")), "no matrix of numbers"],
  ["nothing", "none", "no matrix of numbers"],
]);

testVerdicts(
  "survo",
  {
    metadata: {
      original_matrix: [
        [1, 2, 3],
        [3, 4, 7],
        [4, 6, 0],
      ],
      candidate_numbers: [9],
      n: 3,
    },
  },
  [
    [
      "the last row and column are sums too",
      fenced(GOLD.replace("10", "9")),
      "correct",
      "a sum does not hold",
    ],
  ],
);
testVerdicts(
  "survo",
  {
    metadata: {
      original_matrix: [
        [1, 2, 3],
        [0, 4, 7],
        [4, 6, 10],
      ],
      candidate_numbers: [3],
      n: 3,
    },
  },
  [["one blank", fenced(GOLD), "correct"]],
);

testRefusals("survo", data, [
  [{ n: 4 }, /survo: game_data\.metadata: original_matrix is not n x n/],
  [{ candidate_numbers: ["2"] }, /game_data\.metadata\.candidate_numbers\.0/],
]);
