import type { Puzzle, PuzzleGenerator } from "../../../../lib/domains/logic/drawing/puzzle.ts";
import { CounterRandom } from "../../../../lib/random.ts";
import { longest } from "../../../long.ts";

export const LEVELS = [0, 1, 2, 3] as const;

/** Enough puzzles that every rule occurs; `npm run test:all` draws a hundred. */
const COUNT = longest ? 100 : 25;

/** The puzzles by generator and level, shared by all test files of a process, because some take a tenth of a second each. */
const drawn = new Map<string, Puzzle[]>();

/**
 * Draws puzzles of a generator and level, each from its own random stream. They are always the same, and no test
 * changes them.
 */
export function draws(generator: PuzzleGenerator, level: number, count = COUNT): Puzzle[] {
  const key = `${generator.task} ${level}`;
  const all = drawn.get(key) ?? [];
  drawn.set(key, all);
  while (all.length < count) all.push(generator.draw(new CounterRandom(3, all.length, level), level));
  return all.slice(0, count);
}

/** The metadata of a puzzle, typed as its generator writes it. */
export const metadataOf = <T>(puzzle: Puzzle): T => puzzle.metadata as T;
