import { atLevel, type Family } from "../../data/family.ts";
import type { Environment } from "../environment.ts";
import { NOUNS } from "../lexicon.ts";

/** Four to seven words of three letters, one of which is the target. */
export const guessing: Family = {
  name: "guess",
  domain: "word-guess",
  verifier: "environment",
  draw(random, level) {
    const words = random.sample(NOUNS, atLevel([4, 5, 6, 7], level));
    const secret = random.choice(words);
    return {
      question: `words ${words.join(" ")}: `,
      answer: secret,
      steps: "",
      reference: { words, secret },
    };
  },
};

interface Game {
  readonly words: readonly string[];
  readonly secret: string;
  readonly guesses: string[];
  /** Number of guesses that were consistent with all observations before them. */
  fitting: number;
}

/** The letters of a guess that match the word at the same position, "_" for the others. */
const shown = (guess: string, word: string): string =>
  [...word].map((letter, i) => (guess[i] === letter ? letter : "_")).join("");

/**
 * Word guessing: each message is a guess (its last word), and the observation shows the letters that match the target
 * at the same position, "_" for the others, or "no" for a guess outside the list. Scores 1 for finding the word in
 * time; otherwise 0.3 times the fraction of guesses that were consistent with the observations before them.
 */
export const wordGuess: Environment<Game> = {
  reset({ reference }) {
    return { ...(reference as Pick<Game, "words" | "secret">), guesses: [], fitting: 0 };
  },
  step(game, { answer }) {
    const { words, secret, guesses } = game;
    const guess = /([a-z]+)[^a-z]*$/i.exec(answer)?.[1]?.toLowerCase() ?? "";
    const isKnown = words.includes(guess);
    if (isKnown && guesses.every((earlier) => shown(earlier, guess) === shown(earlier, secret)))
      game.fitting += 1;
    guesses.push(guess);
    if (guess === secret) return { done: true };
    return { observation: isKnown ? `${shown(guess, secret)} ` : "no " };
  },
  score({ secret, guesses, fitting }) {
    return guesses.at(-1) === secret ? 1 : (0.3 * fitting) / Math.max(1, guesses.length);
  },
  /** Guesses a word that is consistent with all observations; if `careless`, any of the words. */
  expert({ reference }, { messages, observations, careless, random }) {
    const { words } = reference as Pick<Game, "words">;
    if (careless) return random.choice(words);
    const canBeRight = (word: string) =>
      messages.every((guess, i) => !words.includes(guess) || `${shown(guess, word)} ` === observations[i]);
    return random.choice(words.filter(canBeRight));
  },
};
