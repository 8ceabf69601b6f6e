import { testRefusals, testVerdicts } from "../../verdicts.ts";

// Deliberate faults (mutants) that these tests detect: strict accepts a region without cells.

const grid = (...rows: string[]) => ({ metadata: { region_grid: rows.map((row) => [...row]) } });
const quarters = grid("AACC", "AACC", "BBDD", "BBDD");
const SOLVED = "[(1,1),(2,1)], [(4,1),(4,2)], [(1,3),(1,4)], [(3,4),(4,4)]";

testVerdicts("norinori", quarters, [
  ["a domino in each region", SOLVED, "correct"],
  ["in other words", `The dominoes are:\n${SOLVED.replaceAll("], ", "]\n")}\nDone.`, "correct"],
  ["blanks between the cells", SOLVED.replaceAll("),(", "), ("), "correct"],
  ["without brackets", SOLVED.replaceAll(/[[\]]/g, ""), "correct"],
  ["cells spread out", SOLVED.replaceAll(/\((\d),(\d)\)/g, "( $1 , $2 )"), "correct"],
  ["nothing", "no dominoes", "correct", "0 cells covered in a region"],
  [
    "one region open",
    "[(1,1),(2,1)], [(4,1),(4,2)], [(1,3),(1,4)]",
    "correct",
    "0 cells covered in a region",
  ],
  ["a region with one cell", "[(1,1),(2,1)], [(4,2),(4,3)], [(1,3),(1,4)]", "1 cells covered in a region"],
  ["dominoes side by side", `${SOLVED}, [(1,2),(2,2)]`, "two dominoes touch"],
  ["dominoes end to end", "[(1,1),(1,2)], [(1,3),(1,4)]", "two dominoes touch"],
  ["a cell covered twice", `${SOLVED}, [(1,1),(2,1)]`, "a cell covered twice"],
  ["cells that touch at a corner", "[(1,1),(2,2)]", "a pair is no domino"],
  ["a cell with itself", "[(1,1),(1,1)]", "a pair is no domino"],
  ["a column outside", "[(4,4),(4,5)]", "a cell outside the grid"],
  ["a row 0", "[(0,1),(1,1)]", "a cell outside the grid"],
  ["the end of one row and the start of the next", "[(1,4),(2,1)]", "a pair is no domino"],
  ["more dominoes than cells", "[(1,1),(1,2)]".repeat(17), "more dominoes than cells"],
]);

testVerdicts("norinori", grid("XXAA", "BBAA", "BBCC", "BBCC"), [
  ["a shadow of its own", "[(1,1),(1,2)], [(1,4),(2,4)], [(3,1),(4,1)], [(4,3),(4,4)]", "correct"],
  ["a shadow left open", "[(1,4),(2,4)], [(3,1),(4,1)], [(4,3),(4,4)]", "a shadow cell is open"],
  ["everything left open", "none", "a shadow cell is open"],
]);

testVerdicts("norinori", grid("XAAC", "AAAX", "AACC", "AACC"), [
  ["dominoes across borders", "[(1,1),(1,2)], [(1,4),(2,4)], [(3,2),(3,3)]", "correct"],
  ["three cells of a region", "[(1,1),(1,2)], [(1,4),(2,4)], [(4,1),(4,2)]", "3 cells covered in a region"],
]);

testRefusals("norinori", quarters, [
  [{ region_grid: [["A", "A"]] }, /norinori: game_data\.metadata\.region_grid: not a square/],
  [{ region_grid: [["A", "A"], ["A"]] }, /rows differ in length/],
]);
