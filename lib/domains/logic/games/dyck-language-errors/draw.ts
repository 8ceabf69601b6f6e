import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { bracketWalk, CLOSING, OPENING, openAfter } from "../../drawing/brackets.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";

const VALID = -1;

/** 1-based position of the first unmatched closing bracket; one past the end if brackets stay open; -1 if balanced. */
function firstError(text: string): number {
  for (let length = 1; length <= text.length; length++) {
    if (openAfter(text.slice(0, length)) === undefined) return length;
  }
  return openAfter(text) === "" ? VALID : text.length + 1;
}

/** A balanced text, or, in three of four cases, one with a changed bracket. */
function bracketText(random: CounterRandom, length: number, kinds: number): string {
  const text = bracketWalk(random, length, kinds, 0);
  if (random.int(0, 3) === 0) return text;
  const at = random.int(Math.floor(length / 2), length - 1);
  return (
    text.slice(0, at) + random.choice(OPENING.slice(0, kinds) + CLOSING.slice(0, kinds)) + text.slice(at + 1)
  );
}

/** Asks where a sequence of brackets stops being balanced. */
export const dyckLanguageErrors: PuzzleGenerator = {
  task: "dyck_language_errors",
  measure: "brackets in the sequence",

  draw(random, level) {
    const length = atLevel([8, 14, 22, 34], level);
    const text = bracketText(random, length, atLevel([2, 3, 4, 4], level));
    const position = firstError(text);
    return {
      question: `Find the first position at which this sequence of brackets breaks the rules, counting from 1. A closing bracket must match the last bracket that is still open. If the sequence only leaves brackets open at its end, the position is its length plus 1; if nothing is wrong, answer -1.\n\n${text}\n\nAnswer with the number and nothing else.`,
      solution: `${position}`,
      answer: `${position}`,
      metadata: {
        bracket_string: text,
        first_error_pos: position === VALID ? null : position,
        is_valid: position === VALID,
        total_length: length,
      },
      effort: length,
    };
  },
};
