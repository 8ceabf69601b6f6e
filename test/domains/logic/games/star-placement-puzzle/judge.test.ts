import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

const region_grid = ["AABB", "AABB", "CCDD", "CCDD"].map((row) => [...row]);
const data = { metadata: { n: 4, k: 1, region_grid } };
const GOLD = "{'A': [(1, 2)], 'B': [(2, 4)], 'C': [(3, 1)], 'D': [(4, 3)]}";
const place = (places: string) => fenced(`{'A': [${places}]}`);

testVerdicts("star_placement_puzzle", data, [
  ["a dict of tuples", fenced(GOLD), "correct"],
  ["of lists", fenced(GOLD.replaceAll("(", "[").replaceAll(")", "]")), "correct"],
  ["over several lines", fenced(GOLD.replaceAll("], ", "],\n  ")), "correct"],
  ["an assignment", fenced(`stars = ${GOLD}`), "correct"],
  ["the first of two dicts", fenced(`${GOLD}\n{'A': []}`), "correct"],
  ["the first that is a dict may be an assigned one", fenced(`{1, x}\nstars = ${GOLD}`), "correct"],
  ["the first of two blocks, wrong", `${fenced("{}")} ${fenced(GOLD)}`, "no dict of stars in a python block"],
  ["no fence", GOLD, "no dict of stars in a python block"],
  ["a set", fenced("{(1, 2), (2, 4)}"), "no dict of stars in a python block"],
  ["not a pair", fenced(GOLD.replace("(1, 2)", "(1, 2, 3)")), "no dict of stars in a python block"],
  ["a pair without a list", fenced(GOLD.replace("[(1, 2)]", "(1, 2)")), "no dict of stars in a python block"],
  [
    "counted from 0",
    fenced(GOLD.replace(/\d/g, (digit) => `${Number(digit) - 1}`)),
    "a star outside the grid",
  ],
  ["outside", fenced(GOLD.replace("(4, 3)", "(5, 3)")), "a star outside the grid"],
  ["a fraction", fenced(GOLD.replace("(4, 3)", "(3.5, 3)")), "a star outside the grid"],
  ["one missing", fenced("{'A': [(1, 2)], 'B': [(2, 4)], 'C': [(3, 1)]}"), "stars in a row or column"],
  [
    "all under one region",
    place("(1, 2), (2, 4), (3, 1), (4, 3)"),
    "correct",
    "a star is listed under another region",
  ],
  [
    "two regions mixed up",
    fenced(GOLD.replace("'A'", "'?'").replace("'B'", "'A'").replace("'?'", "'B'")),
    "correct",
    "a star is listed under another region",
  ],
  ["a star twice", fenced(GOLD.replace("(1, 2)", "(1, 2), (1, 2)")), "correct", "a star is listed twice"],
]);

const stripes = ["ABCD", "ABCD", "ABCD", "ABCD"].map((row) => [...row]);
testVerdicts("star_placement_puzzle", { metadata: { n: 4, k: 1, region_grid: stripes } }, [
  [
    "rows and columns hold, two touch",
    fenced("{'A': [(1, 1)], 'B': [(2, 2)], 'C': [(4, 3)], 'D': [(3, 4)]}"),
    "two stars touch",
  ],
]);
const lopsided = ["AAAA", "AAAA", "ABCD", "AAAA"].map((row) => [...row]);
testVerdicts("star_placement_puzzle", { metadata: { n: 4, k: 1, region_grid: lopsided } }, [
  [
    "a region without a star",
    place("(1, 2), (2, 4), (3, 1), (4, 3)"),
    "stars in a region",
    "stars in a region",
  ],
]);
testVerdicts(
  "star_placement_puzzle",
  {
    metadata: {
      n: 2,
      k: 2,
      region_grid: [
        ["A", "A"],
        ["B", "B"],
      ],
    },
  },
  [["two in every row", fenced("{'A': [(1, 1), (1, 2)], 'B': [(2, 1), (2, 2)]}"), "two stars touch"]],
);

testRefusals("star_placement_puzzle", data, [
  [{ n: 5 }, /star_placement_puzzle: game_data\.metadata: region_grid is not n x n/],
  [{ k: 0 }, /game_data\.metadata\.k/],
]);
