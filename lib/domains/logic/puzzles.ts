import type { PuzzleGenerator } from "./drawing/puzzle.ts";
import { arrowMaze } from "./games/arrow-maze/draw.ts";
import { booleanExpressions } from "./games/boolean-expressions/draw.ts";
import { calcudoko } from "./games/calcudoko/draw.ts";
import { campsite } from "./games/campsite/draw.ts";
import { cipher } from "./games/cipher/draw.ts";
import { cryptarithm } from "./games/cryptarithm/draw.ts";
import { dyckLanguage } from "./games/dyck-language/draw.ts";
import { dyckLanguageErrors } from "./games/dyck-language-errors/draw.ts";
import { dyckLanguageReasoningErrors } from "./games/dyck-language-reasoning-errors/draw.ts";
import { futoshiki } from "./games/futoshiki/draw.ts";
import { goodsExchange } from "./games/goods-exchange/draw.ts";
import { kukurasu } from "./games/kukurasu/draw.ts";
import { mathPath } from "./games/math-path/draw.ts";
import { mathador } from "./games/mathador/draw.ts";
import { minesweeper } from "./games/minesweeper/draw.ts";
import { norinori } from "./games/norinori/draw.ts";
import { numberWall } from "./games/number-wall/draw.ts";
import { numbrix } from "./games/numbrix/draw.ts";
import { objectCounting } from "./games/object-counting/draw.ts";
import { objectProperties } from "./games/object-properties/draw.ts";
import { operation } from "./games/operation/draw.ts";
import { skyscraperPuzzle } from "./games/skyscraper-puzzle/draw.ts";
import { spaceReasoning } from "./games/space-reasoning/draw.ts";
import { spaceReasoningTree } from "./games/space-reasoning-tree/draw.ts";
import { starPlacementPuzzle } from "./games/star-placement-puzzle/draw.ts";
import { sudoku } from "./games/sudoku/draw.ts";
import { survo } from "./games/survo/draw.ts";
import { timeSequence } from "./games/time-sequence/draw.ts";
import { webOfLies } from "./games/web-of-lies/draw.ts";
import { wordSorting } from "./games/word-sorting/draw.ts";
import { wordSortingMistake } from "./games/word-sorting-mistake/draw.ts";
import { wordscapes } from "./games/wordscapes/draw.ts";

/**
 * All puzzle generators, one file each (the task's name with hyphens); add a new generator as a row here and in
 * tasks.ts.
 */
export const PUZZLES: readonly PuzzleGenerator[] = [
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
