import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import { orthogonal, range, rowsOf } from "../../../../../lib/domains/logic/drawing/lattice.ts";
import type { Puzzle } from "../../../../../lib/domains/logic/drawing/puzzle.ts";
import { norinori, norinoriModel } from "../../../../../lib/domains/logic/games/norinori/draw.ts";
import { CounterRandom } from "../../../../../lib/random.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, countAccepted, testMutations } from "../../drawing/mutations.ts";

/** The two cells of each domino, in reading order. */
function dominoesOf(n: number, covered: readonly number[]): [number, number][] {
  return orthogonal(n, n).flatMap((near, a) =>
    near.flatMap((b): [number, number][] => (a < b && covered[a] === 1 && covered[b] === 1 ? [[a, b]] : [])),
  );
}

type Domino = [[number, number], [number, number]];
interface Metadata {
  readonly region_grid: string[][];
  readonly solution: Domino[];
  readonly n: number;
}

const write = (dominoes: readonly (readonly (readonly number[])[])[]) =>
  dominoes.map((cells) => `[${cells.map((cell) => `(${cell.join(",")})`).join(",")}]`).join(", ");
const changed =
  (change: (dominoes: Domino[]) => readonly (readonly (readonly number[])[])[]) => (puzzle: Puzzle) =>
    write(change(metadataOf<Metadata>(puzzle).solution));

testMutations(norinori, {
  "counted from 0": changed((all) => all.map((cells) => cells.map(([r, c]) => [r - 1, c - 1]))),
  "a domino twice": changed((all) => [...all, all[0]!]),
  "a domino of one cell": changed(([first, ...others]) => [[first![0], first![0]], ...others]),
  "cells of two dominoes exchanged": changed(([a, b, ...others]) => [
    [a![0], b![1]],
    [b![0], a![1]],
    ...others,
  ]),
  "a domino moved on by its length": changed(([first, ...others]) => {
    const [a, b] = first!;
    return [[b, [2 * b[0] - a[0], 2 * b[1] - a[1]]], ...others];
  }),
});

test("a domino missing, or all of them, is refused by strict alone", () => {
  for (const puzzle of [...draws(norinori, 0, 30), ...draws(norinori, 1, 30)]) {
    const { solution } = metadataOf<Metadata>(puzzle);
    for (const left of [[], solution.slice(1), solution.slice(0, -1)]) {
      expect([write(left), accepts("norinori", puzzle)(write(left) || "none")]).toEqual([write(left), false]);
    }
    expect(accepts("norinori", puzzle, "reference")("none")).toBe(true);
  }
});

test("the solver finds as many coverings of 3 x 3 as trying all", () => {
  const counts = range(60).map((seed) => {
    const random = new CounterRandom(seed, 6);
    const regions = range(9).map((cell) => (cell === 0 && seed % 3 === 0 ? -1 : random.int(0, 1)));
    const region_grid = rowsOf(
      regions.map((region) => (region < 0 ? "X" : "AB"[region]!)),
      3,
    );
    const isAccepted = accepts("norinori", { metadata: { region_grid } });
    // A covering with cells outside of dominoes has no text.
    const text = (cells: readonly number[]) => {
      const dominoes = dominoesOf(3, cells);
      const isCovered = dominoes.flat().length === cells.filter((cell) => cell === 1).length;
      return isCovered
        ? write(dominoes.map((pair) => pair.map((cell) => [Math.floor(cell / 3) + 1, (cell % 3) + 1])))
        : "";
    };
    const byHand = countAccepted(
      range(9).map(() => [0, 1]),
      (answer) => isAccepted(answer || "none"),
      text,
    );
    expect([seed, search(norinoriModel(3, regions), { limit: 100 }).solutions.length]).toEqual([
      seed,
      byHand,
    ]);
    return byHand;
  });
  expect(new Set(counts).size).toBeGreaterThan(2);
});

test("the stated dominoes are the only ones; shadows come from level 2 on", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(norinori, level, 15)) {
      const { n, region_grid, solution } = metadataOf<Metadata>(puzzle);
      const regions = region_grid.flat().map((letter) => (letter === "X" ? -1 : letter.charCodeAt(0) - 65));
      const { solutions } = search(norinoriModel(n, regions));
      expect(solutions.length).toBe(1);
      const cells = (dominoes: readonly (readonly number[])[]) => dominoes.flat().sort((a, b) => a - b);
      expect(cells(dominoesOf(n, solutions[0]!))).toEqual(
        cells(solution.map((d) => d.map(([r, c]) => (r - 1) * n + c - 1))),
      );
      expect([region_grid.flat().includes("X"), puzzle.question.includes("shadow")]).toEqual([
        level > 1,
        level > 1,
      ]);
      expect(puzzle.question).toContain(region_grid.map((row) => row.join(" ")).join("\n"));
    }
  }
});
