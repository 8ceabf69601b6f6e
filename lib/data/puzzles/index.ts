import { arrowMaze } from "./arrow-maze.ts";
import { booleanExpressions } from "./boolean-expressions.ts";
import { calcudoko } from "./calcudoko.ts";
import { campsite } from "./campsite.ts";
import { cipher } from "./cipher.ts";
import { cryptarithm } from "./cryptarithm.ts";
import { dyckLanguage } from "./dyck-language.ts";
import { dyckLanguageErrors } from "./dyck-language-errors.ts";
import { dyckLanguageReasoningErrors } from "./dyck-language-reasoning-errors.ts";
import { futoshiki } from "./futoshiki.ts";
import { goodsExchange } from "./goods-exchange.ts";
import { kukurasu } from "./kukurasu.ts";
import { mathPath } from "./math-path.ts";
import { mathador } from "./mathador.ts";
import { minesweeper } from "./minesweeper.ts";
import { norinori } from "./norinori.ts";
import { numberWall } from "./number-wall.ts";
import { numbrix } from "./numbrix.ts";
import { objectCounting } from "./object-counting.ts";
import { objectProperties } from "./object-properties.ts";
import { operation } from "./operation.ts";
import type { PuzzleGenerator } from "./puzzle.ts";
import { skyscraperPuzzle } from "./skyscraper-puzzle.ts";
import { spaceReasoning } from "./space-reasoning.ts";
import { spaceReasoningTree } from "./space-reasoning-tree.ts";
import { starPlacementPuzzle } from "./star-placement-puzzle.ts";
import { sudoku } from "./sudoku.ts";
import { survo } from "./survo.ts";
import { timeSequence } from "./time-sequence.ts";
import { webOfLies } from "./web-of-lies.ts";
import { wordSorting } from "./word-sorting.ts";
import { wordSortingMistake } from "./word-sorting-mistake.ts";
import { wordscapes } from "./wordscapes.ts";

/** Every generator, one file each (the task's name with hyphens); a new one is a row here. */
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
