import { booleanExpressions } from "./boolean-expressions.ts";
import type { PuzzleGenerator } from "./puzzle.ts";

/** Every generator, one file each (the task's name with hyphens); a new one is a row here. */
export const PUZZLES: readonly PuzzleGenerator[] = [booleanExpressions];
