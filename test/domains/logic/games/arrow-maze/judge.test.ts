import { fenced, testRefusals, testVerdicts } from "../../verdicts.ts";

// Deliberate faults (mutants) that these tests detect: arrows on no ray are not counted.

// By hand: one 2 sends out → →, the other ← and →. The second solution has arrows in other directions.
const data = { metadata: { maze: [["2", "X", "X"], ["X", "2", "X"]] } }; // biome-ignore format: a board
const GOLD = '[["2","→","→"],["←","2","→"]]';
const OTHER = '[["2","→","↗"],["↓","2","→"]]';
const SHORT = '[["2","→"],["←","2"]]';

testVerdicts("arrow_maze", data, [
  ["a grid in a python block", fenced(GOLD), "correct"],
  ["another solution", fenced(OTHER), "correct"],
  ["single quotes", fenced(GOLD.replaceAll('"', "'")), "correct"],
  ["a plain fence", fenced(GOLD, ""), "correct"],
  ["a fence on one line", `\`\`\`${GOLD}\`\`\``, "correct"],
  ["no fence", `So the maze is ${GOLD}.`, "correct"],
  ["an assignment is no literal, but its list is read", fenced(`maze = ${GOLD}`), "correct"],
  ["the last of two blocks", `${fenced(SHORT)}\n${fenced(GOLD)}`, "correct"],
  ["the last of two blocks, wrong", `${fenced(GOLD)}\n${fenced(SHORT)}`, "grid of another size"],
  ["a python block before a later plain one", `${fenced(GOLD)}\n${fenced(SHORT, "")}`, "correct"],
  ["code is not run", fenced('[["2"]*3]*2'), "no grid of strings"],
  ["an import is not run", fenced('__import__("os").system("exit 1") or [["2"]]'), "grid of another size"],
  ["numbers as numbers", fenced('[[2,"→","→"],["←",2,"→"]]'), "a given cell was changed"],
  ["a changed number", fenced('[["3","→","→"],["←","2","→"]]'), "a given cell was changed"],
  ["a blank left", fenced('[["2","→","X"],["←","2","→"]]'), "a blank holds no arrow"],
  ["an unknown arrow", fenced('[["2","→","⇒"],["←","2","→"]]'), "a blank holds no arrow"],
  ["too long rays", fenced('[["2","→","→"],["↓","2","→"]]'), "rays of another total length"],
  ["too short rays", fenced('[["2","→","↑"],["←","2","→"]]'), "rays of another total length"],
  ["a ray broken by another arrow", fenced('[["2","←","→"],["↓","2","→"]]'), "rays of another total length"],
  ["nothing", "I give up", "no grid of strings"],
]);

testVerdicts("arrow_maze", { metadata: { maze: [["X", "1", "X"]] } }, [
  ["an arrow that no number shoots", '[["↑","1","→"]]', "an arrow on no ray"],
]);

testVerdicts("arrow_maze", { metadata: { maze: [["1", "X", "X"]] } }, [
  ["a zero in place of an arrow", '[["1","→","0"]]', "correct", "a blank holds no arrow"],
]);

testVerdicts(
  "arrow_maze",
  {
    metadata: {
      maze: [
        ["X", "↖", "1"],
        ["2", "←", "X"],
        ["↓", "X", "X"],
      ],
    },
  },
  [
    // given arrows must not change, and all eight directions count
    ["a given arrow turned", '[["↑","←","1"],["2","←","↑"],["↓","↓","↓"]]', "a given cell was changed"],
  ],
);

testVerdicts(
  "arrow_maze",
  {
    metadata: {
      maze: [
        ["X", "X", "X"],
        ["X", "8", "X"],
        ["X", "X", "X"],
      ],
    },
  },
  [
    ["all eight directions", '[["↖","↑","↗"],["←","8","→"],["↙","↓","↘"]]', "correct"],
    ["seven of them", '[["↖","↑","↗"],["←","8","→"],["↙","↓","↙"]]', "rays of another total length"],
  ],
);

testRefusals("arrow_maze", data, [
  [{ maze: [["2", "X"], ["X"]] }, /arrow_maze: game_data\.metadata\.maze: rows differ in length/],
  [{ maze: [["2", "Y"]] }, /game_data\.metadata\.maze\.0\.1/],
  [{ maze: [] }, /game_data\.metadata\.maze/],
]);
