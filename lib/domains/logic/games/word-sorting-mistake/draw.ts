import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { WORDS } from "../../drawing/vocabulary.ts";

/** Inserts the word before the first word that sorts after it. */
function inserted(sorted: readonly string[], word: string): string[] {
  const later = sorted.findIndex((other) => other > word);
  const at = later < 0 ? sorted.length : later;
  return [...sorted.slice(0, at), word, ...sorted.slice(at)];
}

/** A wrong list: the word inserted elsewhere, or a word removed. Trusts a non-empty list. */
function misplaced(random: CounterRandom, sorted: readonly string[], word: string): string[] {
  const right = inserted(sorted, word);
  if (random.next() < 0.3) return right.filter((_, i) => i !== (right.indexOf(word) + 1) % right.length);
  const places = sorted.map((_, i) => i).concat(sorted.length);
  const at = random.choice(places.filter((place) => place !== right.indexOf(word)));
  return [...sorted.slice(0, at), word, ...sorted.slice(at)];
}

/** Insertion sorts of words, one thought per step; asks for the first wrong thought, or "No". */
export const wordSortingMistake: PuzzleGenerator = {
  task: "word_sorting_mistake",
  measure: "thoughts",

  draw(random, level) {
    const words = random.sample(WORDS, atLevel([4, 7, 11, 16], level));
    const mistake = random.next() < 0.7 ? random.int(2, words.length) : null;
    let sorted: readonly string[] = [];
    const thoughts = words.map((word, i) => {
      sorted = i + 1 === mistake ? misplaced(random, sorted, word) : inserted(sorted, word);
      return `Thought ${i + 1}: insert ${word}: ${sorted.join(" < ")}`;
    });
    const answer = mistake === null ? "No" : `${mistake}`;
    return {
      question: `These words are to be put into alphabetical order by inserting one after the other into a list: ${words.join(", ")}.\n\n${thoughts.join("\n")}\n\nEvery thought should put its word before the first word of the list so far that comes later in the alphabet, and leave the others as they are. Answer \\boxed{No} if all thoughts do that; else put the number of the first one that does not into \\boxed{}.`,
      solution: `\\boxed{${answer}}`,
      answer: mistake,
      metadata: { is_mistake: mistake !== null, thoughts: thoughts.join(" "), words, answer: mistake },
      effort: words.length,
    };
  },
};
