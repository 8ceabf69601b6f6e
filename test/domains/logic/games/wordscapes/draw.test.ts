import { expect, test } from "vitest";
import { search } from "../../../../../lib/domains/logic/drawing/finite-domain.ts";
import type { Puzzle } from "../../../../../lib/domains/logic/drawing/puzzle.ts";
import {
  slotsOf,
  wordscapes,
  wordscapesModel,
} from "../../../../../lib/domains/logic/games/wordscapes/draw.ts";
import { draws, metadataOf } from "../../drawing/draws.ts";
import { accepts, assignments, testGridMutations, testMutations } from "../../drawing/mutations.ts";

interface Metadata {
  readonly grid: string[][];
  readonly across_words: string[];
  readonly down_words: string[];
  readonly solution: string[][];
}

const solutionOf = (puzzle: Puzzle) => metadataOf<Metadata>(puzzle).solution;
testGridMutations(wordscapes, solutionOf, JSON.stringify);
testMutations(wordscapes, {
  "a letter as another": (puzzle) =>
    JSON.stringify(solutionOf(puzzle)).replace(/[a-z]/, (c) => (c === "z" ? "y" : "z")),
  "the words turned round": (puzzle) =>
    JSON.stringify(
      solutionOf(puzzle)
        .map((row) => row.toReversed())
        .toReversed(),
    ),
  "letters not filled in": (puzzle) =>
    JSON.stringify(metadataOf<Metadata>(puzzle).grid.map((row) => row.map((c) => (c === "X" ? "" : c)))),
});

test("slots are the unbroken runs of two letters and more", () => {
  const grid = ["XX0X", "X0XX", "X000"].map((row) => [...row]);
  expect(slotsOf(grid)).toEqual([
    { across: true, cells: [0, 1] },
    { across: true, cells: [6, 7] },
    { across: false, cells: [0, 4, 8] },
    { across: false, cells: [3, 7] },
  ]);
});

test("the solver finds as many ways to place words as trying all orders", () => {
  // A ring of four slots of three letters, whose corners must agree.
  const grid = ["XXX", "X0X", "XXX"].map((row) => [...row]);
  const slots = slotsOf(grid);
  const fills = (words: readonly string[]) => {
    const cells = new Map<number, string>();
    return slots.every((slot, i) =>
      slot.cells.every(
        (cell, k) => (cells.get(cell) ?? words[i]![k]) === words[i]![k] && cells.set(cell, words[i]![k]!),
      ),
    );
  };
  for (const [across, down] of [
    [
      ["abc", "cde"],
      ["axc", "cye"],
    ],
    [
      ["aba", "aca"],
      ["ada", "aea"],
    ],
    [
      ["abc", "dbe"],
      ["axd", "cxf"],
    ],
    [
      ["abcd", "cde"],
      ["axc", "cye"],
    ],
  ] as const) {
    const orders = [...assignments(slots.map((slot) => (slot.across ? across : down)))].filter(
      ([a, b, c, d]) => a !== b && c !== d && [a, b, c, d].every((word) => word!.length === 3),
    );
    const { solutions } = search(wordscapesModel(slots, across, down), { limit: 100 });
    expect([across, solutions.length]).toEqual([across, orders.filter(fills).length]);
  }
});

test("the stated grid is the only one; its runs are the listed words, each once", () => {
  for (const level of [0, 1, 2, 3]) {
    for (const puzzle of draws(wordscapes, level, 40)) {
      const { grid, across_words: across, down_words: down, solution } = metadataOf<Metadata>(puzzle);
      const slots = slotsOf(grid);
      const letters = solution.flat();
      const words = (isAcross: boolean) =>
        slots
          .filter((slot) => slot.across === isAcross)
          .map((slot) => slot.cells.map((cell) => letters[cell]).join(""));
      expect([words(true).sort(), words(false).sort()]).toEqual([across.toSorted(), down.toSorted()]);
      expect(search(wordscapesModel(slots, across, down)).solutions.length).toBe(1);
      expect(new Set([...across, ...down]).size).toBe(puzzle.effort);
      expect(solution.flat().every((letter, i) => (letter === " ") === (grid.flat()[i] === "0"))).toBe(true);
      expect(puzzle.question).toContain(
        `${grid.map((row) => row.join(" ")).join("\n")}\n\nAcross: ${across.join(", ")}\nDown: ${down.join(", ")}`,
      );
    }
  }
});

test("capitals are accepted, a word squeezed into one cell is not", () => {
  const [puzzle] = draws(wordscapes, 1, 1);
  const isAccepted = accepts("wordscapes", puzzle);
  expect(isAccepted(JSON.stringify(solutionOf(puzzle!)).toUpperCase())).toBe(true);
  const everywhere = [
    ...metadataOf<Metadata>(puzzle!).across_words,
    ...metadataOf<Metadata>(puzzle!).down_words,
  ].join("");
  const squeezed = solutionOf(puzzle!).map((row) =>
    row.map((letter) => (letter === " " ? letter : everywhere)),
  );
  expect([
    isAccepted(JSON.stringify(squeezed)),
    accepts("wordscapes", puzzle, "reference")(JSON.stringify(squeezed)),
  ]).toEqual([false, true]);
});
