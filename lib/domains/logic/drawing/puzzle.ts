import type { Family } from "../../../data/family.ts";
import type { CounterRandom } from "../../../random.ts";

/** A puzzle with its solution, in the form of the public rows, so that one verifier judges both. */
export interface Puzzle {
  /** The question, including the required form of the answer. */
  readonly question: string;
  /**
   * A right answer in the form that the question requires, e.g. "\\boxed{A,C}"; the generator has proved it.
   */
  readonly solution: string;
  /** The row's `game_data.answer`. */
  readonly answer: unknown;
  /** The row's `game_data.metadata`; each game reads the parts that it needs. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** Difficulty by the generator's measure. */
  readonly effort: number;
}

/** Generates puzzles of one game that have the stated solution; the solution is unique if the verifier compares with it. */
export interface PuzzleGenerator {
  /** The game's name in the logic verifier. */
  readonly task: string;
  /** What `effort` counts, e.g. "blank cells"; its mean increases from level to level. */
  readonly measure: string;
  /** A pure function of the draws and the level (0 = easiest .. 3); terminates for every stream. */
  draw(random: CounterRandom, level: number): Puzzle;
}

/** A generator as a family of procedural problems, judged by the verifier `logic`. */
export function asFamily({ task, draw }: PuzzleGenerator): Family {
  return {
    name: task,
    domain: "logic",
    verifier: "logic",
    draw(random, level) {
      const { question, solution, answer, metadata } = draw(random, level);
      const game_data = { question, answer, difficulty: level, metadata };
      return { question, answer: solution, steps: "", reference: { task, game_data } };
    },
  };
}
