import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { WORDS } from "../../drawing/vocabulary.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** A reversible change of a text of capital letters. */
interface Step {
  readonly rule: string;
  apply(text: string): string;
}

const moved = (letter: string, by: number) => ALPHABET[(ALPHABET.indexOf(letter) + by) % ALPHABET.length]!;
const eachLetter = (text: string, change: (letter: string, place: number) => string) =>
  [...text].map(change).join("");

function drawStep(random: CounterRandom): Step {
  const by = random.int(1, 25);
  const key = random.choice(WORDS).slice(0, 3).toUpperCase();
  const steps: readonly Step[] = [
    {
      rule: `move every letter ${by} places on in the alphabet, from Z on to A`,
      apply: (text) => eachLetter(text, (letter) => moved(letter, by)),
    },
    { rule: "write the text backwards", apply: (text) => [...text].reverse().join("") },
    {
      rule: "replace every letter by the one as far from the other end of the alphabet (A by Z, B by Y)",
      apply: (text) => eachLetter(text, (letter) => ALPHABET[25 - ALPHABET.indexOf(letter)]!),
    },
    {
      rule: `write the key ${key} over and over below the text and move every letter as many places on as the letter below it says (A: 0, B: 1, ..., Z: 25), from Z on to A`,
      apply: (text) => eachLetter(text, (letter, i) => moved(letter, ALPHABET.indexOf(key[i % key.length]!))),
    },
    {
      rule: "write first the letters at odd places (the 1st, 3rd, ...), then those at even places",
      apply: (text) =>
        [...text].filter((_, i) => i % 2 === 0).join("") + [...text].filter((_, i) => i % 2).join(""),
    },
  ];
  return random.choice(steps);
}

/** A text encrypted by given rules; every rule is reversible, so the plain text is unique. */
export const cipher: PuzzleGenerator = {
  task: "cipher",
  measure: "letters times rules",

  draw(random, level) {
    const plain = random
      .sample(WORDS, atLevel([1, 1, 2, 3], level))
      .join("")
      .toUpperCase();
    const steps = Array.from({ length: atLevel([1, 2, 3, 4], level) }, () => drawStep(random));
    const secret = steps.reduce((text, step) => step.apply(text), plain);
    const rules = steps.map(({ rule }, i) => `${i + 1}. ${rule}`);
    return {
      question: `A text of capital letters was put into cipher by these rules, one after the other:\n\n${rules.join("\n")}\n\nThe result is ${secret}. What was the text? Put it into a Python code block as a list in a list:\n\`\`\`python\n[["TEXT"]]\n\`\`\``,
      solution: `\`\`\`python\n[["${plain}"]]\n\`\`\``,
      answer: `[[${plain}]]`,
      metadata: { ciphertext: secret, rules: steps.length },
      effort: plain.length * steps.length,
    };
  },
};
