import { atLevel, type Family } from "../../data/family.ts";
import type { Environment } from "../environment.ts";
import { NOUNS } from "../lexicon.ts";

/** Four to seven words of three letters, one of which is meant. */
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
  /** Guesses that could have been right by all that had been shown. */
  fitting: number;
}

/** Letters of a guess that stand where they do in a word, "_" for the others. */
const shown = (guess: string, word: string): string =>
  [...word].map((letter, i) => (guess[i] === letter ? letter : "_")).join("");

/**
 * Guessing a word: each message is a guess (its last word), and what comes back are the letters that stand where they do
 * in the word meant, "_" for the others, or "no" for what was not among the words. 1 for the word within the turns;
 * otherwise 0.3 times the share of guesses that could have been right by what had been shown before them.
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
  /** A word that can be right by all that was shown; careless, any of the words. */
  expert({ reference }, { messages, observations, careless, random }) {
    const { words } = reference as Pick<Game, "words">;
    if (careless) return random.choice(words);
    const canBeRight = (word: string) =>
      messages.every((guess, i) => !words.includes(guess) || `${shown(guess, word)} ` === observations[i]);
    return random.choice(words.filter(canBeRight));
  },
};
