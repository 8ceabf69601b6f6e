import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

// the grid 1 2 3 / 3 1 2 / 2 3 1
const views = { top: [2, 2, 1], bottom: [2, 1, 3], left: [3, 1, 2], right: [1, 2, 2] };
const data = { metadata: { n: 3, ...views } };
const GOLD = "[[1, 2, 3], [3, 1, 2], [2, 3, 1]]";

testVerdicts("skyscraper_puzzle", data, [
  ["the square", fenced(GOLD), "correct"],
  ["a comment behind a row", fenced("[[1, 2, 3], # low\n [3, 1, 2],\n [2, 3, 1]]"), "correct"],
  ["the first of two blocks", `${fenced(GOLD)} ${fenced("[[1]]")}`, "correct"],
  ["the first of two blocks, wrong", `${fenced("[[1]]")} ${fenced(GOLD)}`, "grid of another size"],
  ["blanks before the closing mark", `\`\`\`python  \n${GOLD}\n  \`\`\``, "correct"],
  ["marks on the same line", `\`\`\`python ${GOLD}\`\`\``, "no grid in a python block"],
  ["no fence", GOLD, "no grid in a python block"],
  ["an assignment", fenced(`grid = ${GOLD}`), "no grid in a python block"],
  ["tuples", fenced("((1, 2, 3), (3, 1, 2), (2, 3, 1))"), "no grid in a python block"],
  ["strings", fenced(GOLD.replaceAll(/(\d)/g, '"$1"')), "a row or column repeats"],
  ["a row repeats", fenced("[[1, 1, 3], [3, 1, 2], [2, 3, 1]]"), "a row or column repeats"],
  ["a column repeats", fenced("[[1, 2, 3], [1, 2, 3], [2, 3, 1]]"), "a row or column repeats"],
  ["a height above n", fenced("[[1, 2, 4], [4, 1, 2], [2, 4, 1]]"), "a row or column repeats"],
  ["rows turned round", fenced("[[3, 2, 1], [2, 1, 3], [1, 3, 2]]"), "a view does not hold"],
  ["upside down", fenced("[[2, 3, 1], [3, 1, 2], [1, 2, 3]]"), "a view does not hold"],
  ["rows missing", fenced("[[1, 2, 3]]"), "grid of another size"],
]);

for (const side of ["top", "bottom", "left", "right"] as const) {
  const [first, ...others] = views[side];
  testVerdicts("skyscraper_puzzle", { metadata: { ...data.metadata, [side]: [first! + 1, ...others] } }, [
    [`one more seen from ${side}`, fenced(GOLD), "a view does not hold"],
  ]);
}

testRefusals("skyscraper_puzzle", data, [
  [{ top: [1] }, /skyscraper_puzzle: game_data\.metadata: a side has not n clues/],
  [{ n: 0 }, /game_data\.metadata\.n/],
]);
