import type { Game } from "./game.ts";
import { arrowMaze } from "./games/arrow-maze.ts";
import { booleanExpressions } from "./games/boolean-expressions.ts";
import { calcudoko } from "./games/calcudoko.ts";
import { campsite } from "./games/campsite.ts";
import { cipher } from "./games/cipher.ts";
import { cryptarithm } from "./games/cryptarithm.ts";
import { dyckLanguage } from "./games/dyck-language.ts";
import { dyckLanguageErrors } from "./games/dyck-language-errors.ts";
import { dyckLanguageReasoningErrors } from "./games/dyck-language-reasoning-errors.ts";
import { futoshiki } from "./games/futoshiki.ts";
import { goodsExchange } from "./games/goods-exchange.ts";
import { kukurasu } from "./games/kukurasu.ts";
import { mathPath } from "./games/math-path.ts";
import { mathador } from "./games/mathador.ts";
import { minesweeper } from "./games/minesweeper.ts";
import { norinori } from "./games/norinori.ts";
import { numberWall } from "./games/number-wall.ts";
import { numbrix } from "./games/numbrix.ts";
import { objectCounting } from "./games/object-counting.ts";
import { objectProperties } from "./games/object-properties.ts";
import { operation } from "./games/operation.ts";
import { skyscraperPuzzle } from "./games/skyscraper-puzzle.ts";
import { spaceReasoning } from "./games/space-reasoning.ts";
import { spaceReasoningTree } from "./games/space-reasoning-tree.ts";
import { starPlacementPuzzle } from "./games/star-placement-puzzle.ts";
import { sudoku } from "./games/sudoku.ts";
import { survo } from "./games/survo.ts";
import { timeSequence } from "./games/time-sequence.ts";
import { webOfLies } from "./games/web-of-lies.ts";
import { wordSorting } from "./games/word-sorting.ts";
import { wordSortingMistake } from "./games/word-sorting-mistake.ts";
import { wordscapes } from "./games/wordscapes.ts";

/** Every game, one file each in games/ (the task's name with hyphens); a new one is a row here. */
export const GAMES: readonly Game[] = [
  arrowMaze,
  booleanExpressions,
  calcudoko,
  campsite,
  cipher,
  cryptarithm,
  dyckLanguage,
  dyckLanguageErrors,
  dyckLanguageReasoningErrors,
  futoshiki,
  goodsExchange,
  kukurasu,
  mathador,
  mathPath,
  minesweeper,
  norinori,
  numberWall,
  numbrix,
  objectCounting,
  objectProperties,
  operation,
  skyscraperPuzzle,
  spaceReasoning,
  spaceReasoningTree,
  starPlacementPuzzle,
  sudoku,
  survo,
  timeSequence,
  webOfLies,
  wordscapes,
  wordSorting,
  wordSortingMistake,
];
