import type { Game } from "./game.ts";
import { booleanExpressions } from "./games/boolean-expressions.ts";

/** Every game, one file each in games/ (the task's name with hyphens); a new one is a row here. */
export const GAMES: readonly Game[] = [booleanExpressions];
