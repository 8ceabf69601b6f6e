import type { Game } from "./game.ts";
import { arrowMaze } from "./games/arrow-maze.ts";
import { booleanExpressions } from "./games/boolean-expressions.ts";
import { calcudoko } from "./games/calcudoko.ts";
import { campsite } from "./games/campsite.ts";
import { futoshiki } from "./games/futoshiki.ts";
import { kukurasu } from "./games/kukurasu.ts";
import { minesweeper } from "./games/minesweeper.ts";
import { norinori } from "./games/norinori.ts";
import { numberWall } from "./games/number-wall.ts";
import { numbrix } from "./games/numbrix.ts";
import { skyscraperPuzzle } from "./games/skyscraper-puzzle.ts";
import { starPlacementPuzzle } from "./games/star-placement-puzzle.ts";
import { sudoku } from "./games/sudoku.ts";
import { survo } from "./games/survo.ts";
import { wordscapes } from "./games/wordscapes.ts";

/** Every game, one file each in games/ (the task's name with hyphens); a new one is a row here. */
export const GAMES: readonly Game[] = [
  arrowMaze,
  booleanExpressions,
  calcudoko,
  campsite,
  futoshiki,
  kukurasu,
  minesweeper,
  norinori,
  numberWall,
  numbrix,
  skyscraperPuzzle,
  starPlacementPuzzle,
  sudoku,
  survo,
  wordscapes,
];
