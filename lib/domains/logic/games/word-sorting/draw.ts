import { atLevel } from "../../../../data/family.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { WORDS } from "../../drawing/vocabulary.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz";

/** Compares two words by an alphabet; a word sorts before its extensions. */
function byAlphabet(alphabet: string) {
  return (a: string, b: string): number => {
    for (let i = 0; i < a.length && i < b.length; i++) {
      if (a[i] !== b[i]) return alphabet.indexOf(a[i]!) - alphabet.indexOf(b[i]!);
    }
    return a.length - b.length;
  };
}

/** Words in the order of an alphabet in which some letters have moved to the front. */
export const wordSorting: PuzzleGenerator = {
  task: "word_sorting",
  measure: "words",

  draw(random, level) {
    const words = random.sample(WORDS, atLevel([4, 7, 12, 20], level));
    const front = random.sample([...ALPHABET], random.int(1, 3)).join("");
    const alphabet = front + [...ALPHABET].filter((letter) => !front.includes(letter)).join("");
    const increasing = random.next() < 0.5;
    const sorted = [...words].sort(byAlphabet(alphabet));
    const ordered = increasing ? sorted : sorted.reverse();
    return {
      question: `Take an alphabet that begins with ${[...front].join(", ")} and then has the other letters in their usual order. Sort these words in ${increasing ? "increasing" : "decreasing"} order of that alphabet: ${words.join(", ")}. Give the sorted words in \\boxed{}, separated by commas: \\boxed{word1,word2,word3}.`,
      solution: `\\boxed{${ordered.join(",")}}`,
      answer: ordered.join(", "),
      metadata: { words, sorted_words: ordered, front_letters: front, order: increasing ? 1 : -1 },
      effort: words.length,
    };
  },
};
