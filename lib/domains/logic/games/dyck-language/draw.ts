import { atLevel } from "../../../../data/family.ts";
import { bracketWalk, closerOf, openAfter } from "../../drawing/brackets.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";

/**
 * Asks to complete a sequence of brackets: the brackets still open are closed in reverse order, which is the
 * shortest way.
 */
export const dyckLanguage: PuzzleGenerator = {
  task: "dyck_language",
  measure: "brackets to close",

  draw(random, level) {
    const missing = atLevel([2, 4, 6, 9], level) + random.int(0, 1);
    const length = atLevel([10, 16, 24, 36], level) - missing;
    const beginning = bracketWalk(
      random,
      length + ((length - missing) % 2),
      atLevel([2, 3, 4, 4], level),
      missing,
    );
    const full = beginning + [...openAfter(beginning)!].reverse().map(closerOf).join("");
    return {
      question: `Complete this sequence of brackets so that every bracket is closed in the right order, with as few brackets as possible:\n\n${beginning}\n\nAnswer with the whole completed sequence and nothing else.`,
      solution: full,
      answer: full,
      metadata: { full_sequence: full, question_sequence: beginning, fill_length: missing },
      effort: missing,
    };
  },
};
