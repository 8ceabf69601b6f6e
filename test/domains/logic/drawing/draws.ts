import type { Puzzle, PuzzleGenerator } from "../../../../lib/domains/logic/drawing/puzzle.ts";
import { CounterRandom } from "../../../../lib/random.ts";
import { longest } from "../../../long.ts";

export const LEVELS = [0, 1, 2, 3] as const;

/** Enough for every rule to occur; `npm run test:all` looks at a hundred. */
const COUNT = longest ? 100 : 25;

/** Puzzles of a generator and level, each from a stream of its own; always the same ones. */
export function draws(generator: PuzzleGenerator, level: number, count = COUNT): Puzzle[] {
  return Array.from({ length: count }, (_, i) => generator.draw(new CounterRandom(3, i, level), level));
}

/** The metadata of a puzzle in the shape that its generator gives it. */
export const metadataOf = <T>(puzzle: Puzzle): T => puzzle.metadata as T;
