import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { bracketWalk, OPENING, openAfter } from "../../drawing/brackets.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";

const show = (stack: string) => (stack === "" ? "empty" : stack);

/** Corrupts a stack: drops its last bracket or adds one. */
function spoiled(random: CounterRandom, stack: string, kinds: number): string {
  if (stack !== "" && random.next() < 0.5) return stack.slice(0, -1);
  return stack + random.choice(OPENING.slice(0, kinds));
}

/** Traces of a bracket stack with up to three wrong steps; every other step is right for the input so far. */
export const dyckLanguageReasoningErrors: PuzzleGenerator = {
  task: "dyck_language_reasoning_errors",
  measure: "steps",

  draw(random, level) {
    const kinds = atLevel([2, 3, 4, 4], level);
    const text = bracketWalk(random, atLevel([6, 10, 16, 24], level), kinds, 0);
    const places = Array.from(text, (_, i) => i + 1);
    const wrong = new Set(random.sample(places, random.int(0, 3)));
    const steps = places.map((step) => {
      const stack = openAfter(text.slice(0, step))!;
      const shown = wrong.has(step) ? spoiled(random, stack, kinds) : stack;
      return `Thought ${step}: ${text[step - 1]} ; stack: ${show(shown)}`;
    });
    const indices = [...wrong].sort((a, b) => a - b);
    return {
      question: `The brackets of ${text} are read one by one. After each, the brackets that are still open are noted, the first opened first:\n\n${steps.join("\n")}\n\nWhich thoughts note another stack than the true one at that point? Answer with their numbers, separated by commas, or with "" if there is none.`,
      solution: indices.length === 0 ? '""' : indices.join(","),
      answer: indices.join(","),
      metadata: { dyck_sequence: text, thoughts: steps, error_indices: indices, n_errors: indices.length },
      effort: steps.length,
    };
  },
};
