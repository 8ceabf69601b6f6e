import { expect, test } from "vitest";
import { wordList } from "../../../lib/domains/instruction-following/generate.ts";
import { NOUNS } from "../../../lib/domains/lexicon.ts";
import { CounterRandom } from "../../../lib/random.ts";

// Deliberate faults (mutants) that these tests detect: include overwrites the start word, the filler contains the
// avoided word, count is not forced above level 0, impossible counts are kept (start + end + include in two words).

/** True if the words follow one phrase of the question. */
function obeys(words: readonly string[], phrase: string): boolean {
  const lower = words.map((word) => word.toLowerCase());
  const [first, second] = phrase.split(" ") as [string, string];
  const last = phrase.split(" ").at(-1)!;
  if (second === "words") return words.length === Number(first);
  if (first === "include") return lower.includes(last);
  if (first === "start") return lower[0] === last;
  if (first === "end") return lower.at(-1) === last;
  if (first === "avoid") return !lower.includes(last);
  return words.every((word) => word === (first === "uppercase" ? word.toUpperCase() : word.toLowerCase()));
}

test.each([0, 1, 2, 3])("an instruction at level %i is obeyed by its own answer in every phrase", (level) => {
  for (let i = 0; i < 500; i++) {
    const { question, answer, steps } = wordList.draw(new CounterRandom(8, i, level), level);
    const phrases = question.replace("Write: ", "").split(", ");
    expect(phrases.length).toBe(level + 1);
    if (level > 0) expect(phrases[0]).toMatch(/^\d words$/);
    const words = answer.split(" ");
    expect(phrases.filter((phrase) => !obeys(words, phrase))).toEqual([]);
    expect(words.every((word) => NOUNS.includes(word.toLowerCase()))).toBe(true);
    expect(new Set(words.map((word) => word === word.toUpperCase())).size).toBe(1);
    expect(steps).toBe(words.map((word, k) => `${k + 1} ${word}`).join(" "));
  }
});

test("phrases name different words, in a fixed order", () => {
  const order = ["words", "include", "start", "end", "avoid", "case"];
  for (let i = 0; i < 300; i++) {
    const { question } = wordList.draw(new CounterRandom(9, i), 3);
    const phrases = question.replace("Write: ", "").split(", ");
    const kinds = phrases.map((phrase) => {
      const first = phrase.split(" ")[0]!;
      if (/^\d/.test(first)) return "words";
      return order.includes(first) ? first : "case";
    });
    expect(kinds).toEqual(order.filter((kind) => kinds.includes(kind)));
    const named = phrases
      .filter((phrase) => /^(include|start|end|avoid)/.test(phrase))
      .map((p) => p.split(" ").at(-1));
    expect(new Set(named).size).toBe(named.length);
  }
});
