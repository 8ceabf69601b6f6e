import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

// Rows are shifts of 1..9 by 3 within a band and by 1 between bands.
const solved = [0, 3, 6, 1, 4, 7, 2, 5, 8].map((shift) =>
  Array.from({ length: 9 }, (_, c) => ((c + shift) % 9) + 1),
);
const original_sudoku = solved.map((row, r) => row.map((digit, c) => ((r + c) % 3 === 0 ? digit : "X")));
const data = { metadata: { original_sudoku } };

const tuple = (board: readonly (readonly unknown[])[]) =>
  `(${board.map((row) => `(${row.join(", ")})`).join(", ")})`;
const changed = (change: (board: number[][]) => void) => {
  const board = solved.map((row) => [...row]);
  change(board);
  return fenced(tuple(board));
};
const GOLD = tuple(solved);

testVerdicts("sudoku", data, [
  ["a tuple of tuples", fenced(GOLD), "correct"],
  ["on the line of the mark", `\`\`\`python ${GOLD}\`\`\``, "correct"],
  ["lists", fenced(JSON.stringify(solved)), "correct"],
  ["tuples without a fence", `It is ${GOLD}.`, "correct"],
  ["lists without a fence", JSON.stringify(solved), "no tuple of rows"],
  ["the last of two blocks", `${fenced("(1, 2)")} ${fenced(GOLD)}`, "correct"],
  ["the last of two blocks, wrong", `${fenced(GOLD)} ${fenced("(1, 2)")}`, "no tuple of rows"],
  ["the last of two tuples", `((1, 2), (3, 4)) ${GOLD}`, "correct"],
  ["an assignment", fenced(`answer = ${GOLD}`), "no tuple of rows"],
  [
    "strings",
    fenced(tuple(solved.map((row) => row.map((digit) => `'${digit}'`)))),
    "a given digit was changed",
  ],
  ["rows as strings", fenced(`(${solved.map((row) => `"${row.join("")}"`).join(", ")})`), "no tuple of rows"],
  ["a row short", fenced(tuple(solved.slice(1))), "grid of another size"],
  ["a given digit", changed((b) => (b[0]![0] = 2)), "a given digit was changed"],
  ["a digit twice in a row", changed((b) => (b[0]![1] = 3)), "a row or column repeats"],
  ["a ten", changed((b) => (b[0]![1] = 10)), "a row or column repeats"],
]);

const open = {
  metadata: { original_sudoku: solved.map((row) => row.map((_, c) => (c % 2 === 0 ? 0 : "x"))) },
};
const shifted = Array.from({ length: 9 }, (_, r) => Array.from({ length: 9 }, (_, c) => ((r + c) % 9) + 1));
testVerdicts("sudoku", open, [
  ["0 and x are blank too", fenced(GOLD), "correct"],
  ["rows and columns hold, boxes do not", fenced(tuple(shifted)), "a box repeats"],
  ["rows, columns and three boxes hold", changed((b) => ([b[0], b[3]] = [b[3]!, b[0]!])), "a box repeats"],
  ["rows alone hold", fenced(tuple(solved.map(() => solved[0]!))), "a row or column repeats"],
]);
testVerdicts("sudoku", { metadata: { original_sudoku: original_sudoku.map((row) => row.map(String)) } }, [
  ["givens as strings", fenced(GOLD), "correct"],
]);

testRefusals("sudoku", data, [
  [{ original_sudoku: [[1]] }, /sudoku: game_data\.metadata\.original_sudoku: not 9 x 9/],
  [{ original_sudoku: undefined }, /game_data\.metadata\.original_sudoku/],
]);
