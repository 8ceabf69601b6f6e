import { expect, test } from "vitest";
import { guessing, wordGuess } from "../../../lib/domains/environments/word-guess.ts";
import { CounterRandom } from "../../../lib/random.ts";

const call = { signal: new AbortController().signal };
const reference = { words: ["cat", "map", "hat", "owl"], secret: "map" };
const about = { id: 0, question: "", family: "guess", level: 0, reference };

async function play(...guesses: string[]) {
  const state = await wordGuess.reset(about, call);
  const outcomes = [];
  for (const [turn, text] of guesses.entries())
    outcomes.push(await wordGuess.step(state, { turn, text, answer: text, calls: [] }, call));
  return { outcomes, score: await wordGuess.score(state, { finish: "turns", turns: guesses.length }, call) };
}

test("a guess shows the letters in their place; the word ends the game and is worth 1", async () => {
  expect(await play("cat", "I guess: Map!")).toEqual({
    outcomes: [{ observation: "_a_ " }, { done: true }],
    score: 1,
  });
});

test("what was not among the words is told; worth something is a guess that could have been right", async () => {
  expect(await play("dog", "", "owl")).toEqual({
    outcomes: [{ observation: "no " }, { observation: "no " }, { observation: "___ " }],
    score: 0.3 / 3,
  });
  expect((await play("owl", "owl")).score).toBe(0.3 / 2);
  expect((await play("hat", "cat")).score).toBe(0.3 / 2); // "_a_" shows that the last letter differs
  expect((await play("owl", "cat")).score).toBe(0.3);
  const state = await wordGuess.reset(about, call);
  expect(await wordGuess.score(state, { finish: "length", turns: 1 }, call)).toBe(0);
});

test("problems list the word that is meant among distinct words, more of them level by level", () => {
  for (let i = 0; i < 40; i++) {
    const { question, reference } = guessing.draw(new CounterRandom(1, i), i % 4);
    const { words, secret } = reference as { words: string[]; secret: string };
    expect(new Set(words).size).toBe(4 + (i % 4));
    expect(words).toContain(secret);
    expect(question).toBe(`words ${words.join(" ")}: `);
  }
});

test("the expert names a word that can be right; a careless one any of the words", () => {
  const said = (careless: boolean) =>
    Array.from({ length: 60 }, (_, i) =>
      wordGuess.expert!(about, {
        turn: 1,
        maxTurns: 3,
        messages: ["hat"],
        observations: ["_a_ "],
        careless,
        random: new CounterRandom(1, i),
      }),
    );
  expect(new Set(said(false))).toEqual(new Set(["map"])); // "cat" would have shown "_at"
  expect(new Set(said(true))).toEqual(new Set(reference.words));
});
