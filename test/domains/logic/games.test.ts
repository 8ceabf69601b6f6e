import { describe, expect, test } from "vitest";
import { GAMES } from "../../../lib/domains/logic/games.ts";
import { logic } from "../../../lib/domains/logic/verify.ts";
import { longest } from "../../long.ts";
import { HOSTILE } from "./judge.ts";
import { labelledPuzzles } from "./labelled.ts";

// Deliberate faults (mutants) in the text games, each detected by the test of its game: the first box instead of the
// last, strict reads the reasoning, each rule of cryptarithm, mathador and math_path removed in turn, strict reads as
// the reference does.

test("every game has a name of its own, and the list is in their order", () => {
  const names = GAMES.map((game) => game.task);
  expect(new Set(names).size).toBe(names.length);
});

/** Generous, because other work shares the machine; quadratic time in a megabyte would be hours. */
const BOUND_MS = 15_000;

describe.skipIf(!longest || labelledPuzzles.length === 0)("hostile megabytes end quickly", () => {
  const puzzles = GAMES.map(({ task }) => labelledPuzzles.find((puzzle) => puzzle.task === task));
  test.each(puzzles.filter((puzzle) => puzzle !== undefined))("$task", async ({ task, game_data }) => {
    for (const compat of ["reference", "strict"] as const) {
      const reference = logic.parseReference({ task, game_data, compat });
      for (const text of HOSTILE) {
        const start = performance.now();
        const { status } = await logic.verify({ text, finish: "stop" }, reference);
        expect([text.slice(0, 20), status]).not.toContain("correct");
        expect([text.slice(0, 20), performance.now() - start < BOUND_MS]).toEqual([text.slice(0, 20), true]);
      }
    }
  });
});
