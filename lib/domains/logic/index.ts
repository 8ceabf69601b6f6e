import type { Family } from "../../data/family.ts";
import type { Domain } from "../domain.ts";
import { asFamily } from "./drawing/puzzle.ts";
import { FACTS } from "./facts.ts";
import { latinSquare as drawLatinSquare, truthTable as drawTruthTable } from "./generate.ts";
import { i3Logic } from "./read/i3-logic.ts";
import { TASKS } from "./tasks.ts";

/** Loads the generators on demand, because there are many. */
async function drawn(tasks: readonly string[]): Promise<readonly Family[]> {
  const { PUZZLES } = await import("./puzzles.ts");
  return PUZZLES.filter(({ task }) => tasks.includes(task)).map(asFamily);
}

export const LOGIC = {
  datasets: { "i3-logic": i3Logic },
  families: [drawTruthTable, drawLatinSquare],
  sources: {
    puzzles: () => drawn(TASKS),
    ...Object.fromEntries(TASKS.map((task) => [`puzzles/${task}`, () => drawn([task])])),
  },
  verifiers: FACTS,
} satisfies Domain;
