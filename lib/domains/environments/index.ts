import type { Family } from "../../data/family.ts";
import type { Environment } from "../environment.ts";
import { calculator, computing } from "./calculator.ts";
import { guessing, wordGuess } from "./word-guess.ts";

/** Built-in environments by their name in a recipe. */
export const ENVIRONMENTS: Readonly<Record<string, Environment>> = {
  calculator,
  "word-guess": wordGuess,
};

/** Sources of made-up problems that only their environment can judge. */
export const EPISODE_SOURCES: Readonly<Record<string, readonly Family[]>> = {
  "procedural/calculator": [computing],
  "procedural/word-guess": [guessing],
};
