import { arrowMaze } from "./games/arrow-maze/judge.ts";
import { booleanExpressions } from "./games/boolean-expressions/judge.ts";
import { calcudoko } from "./games/calcudoko/judge.ts";
import { campsite } from "./games/campsite/judge.ts";
import { cipher } from "./games/cipher/judge.ts";
import { cryptarithm } from "./games/cryptarithm/judge.ts";
import { dyckLanguage } from "./games/dyck-language/judge.ts";
import { dyckLanguageErrors } from "./games/dyck-language-errors/judge.ts";
import { dyckLanguageReasoningErrors } from "./games/dyck-language-reasoning-errors/judge.ts";
import { futoshiki } from "./games/futoshiki/judge.ts";
import { goodsExchange } from "./games/goods-exchange/judge.ts";
import { kukurasu } from "./games/kukurasu/judge.ts";
import { mathPath } from "./games/math-path/judge.ts";
import { mathador } from "./games/mathador/judge.ts";
import { minesweeper } from "./games/minesweeper/judge.ts";
import { norinori } from "./games/norinori/judge.ts";
import { numberWall } from "./games/number-wall/judge.ts";
import { numbrix } from "./games/numbrix/judge.ts";
import { objectCounting } from "./games/object-counting/judge.ts";
import { objectProperties } from "./games/object-properties/judge.ts";
import { operation } from "./games/operation/judge.ts";
import { skyscraperPuzzle } from "./games/skyscraper-puzzle/judge.ts";
import { spaceReasoning } from "./games/space-reasoning/judge.ts";
import { spaceReasoningTree } from "./games/space-reasoning-tree/judge.ts";
import { starPlacementPuzzle } from "./games/star-placement-puzzle/judge.ts";
import { sudoku } from "./games/sudoku/judge.ts";
import { survo } from "./games/survo/judge.ts";
import { timeSequence } from "./games/time-sequence/judge.ts";
import { webOfLies } from "./games/web-of-lies/judge.ts";
import { wordSorting } from "./games/word-sorting/judge.ts";
import { wordSortingMistake } from "./games/word-sorting-mistake/judge.ts";
import { wordscapes } from "./games/wordscapes/judge.ts";
import type { Game } from "./judging/game.ts";

/** All games, one file each in games/ (the task's name with hyphens); add a new game as a row here. */
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
