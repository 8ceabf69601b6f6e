import { booleanExpressions } from "./boolean-expressions.ts";
import { cipher } from "./cipher.ts";
import { cryptarithm } from "./cryptarithm.ts";
import { dyckLanguage } from "./dyck-language.ts";
import { dyckLanguageErrors } from "./dyck-language-errors.ts";
import { dyckLanguageReasoningErrors } from "./dyck-language-reasoning-errors.ts";
import { goodsExchange } from "./goods-exchange.ts";
import { mathPath } from "./math-path.ts";
import { mathador } from "./mathador.ts";
import { objectCounting } from "./object-counting.ts";
import { objectProperties } from "./object-properties.ts";
import { operation } from "./operation.ts";
import type { PuzzleGenerator } from "./puzzle.ts";
import { spaceReasoning } from "./space-reasoning.ts";
import { spaceReasoningTree } from "./space-reasoning-tree.ts";
import { timeSequence } from "./time-sequence.ts";
import { webOfLies } from "./web-of-lies.ts";
import { wordSorting } from "./word-sorting.ts";
import { wordSortingMistake } from "./word-sorting-mistake.ts";

/** Every generator, one file each (the task's name with hyphens); a new one is a row here. */
export const PUZZLES: readonly PuzzleGenerator[] = [
  booleanExpressions,
  cipher,
  cryptarithm,
  dyckLanguage,
  dyckLanguageErrors,
  dyckLanguageReasoningErrors,
  goodsExchange,
  mathador,
  mathPath,
  objectCounting,
  objectProperties,
  operation,
  spaceReasoning,
  spaceReasoningTree,
  timeSequence,
  webOfLies,
  wordSorting,
  wordSortingMistake,
];
