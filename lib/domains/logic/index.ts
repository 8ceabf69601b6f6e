import type { Domain } from "../domain.ts";
import { readCase } from "./cases.ts";
import { asFamily } from "./drawing/puzzle.ts";
import { latinSquare as drawLatinSquare, truthTable as drawTruthTable } from "./generate.ts";
import { PUZZLES } from "./puzzles.ts";
import { i3Logic } from "./read/i3-logic.ts";
import { VERIFIERS } from "./verifiers.ts";

export const LOGIC = {
  datasets: { "i3-logic": i3Logic },
  families: [drawTruthTable, drawLatinSquare],
  sources: {
    puzzles: PUZZLES.map(asFamily),
    ...Object.fromEntries(PUZZLES.map((one) => [`puzzles/${one.task}`, [asFamily(one)]])),
  },
  verifiers: VERIFIERS,
  readCase,
} satisfies Domain;
