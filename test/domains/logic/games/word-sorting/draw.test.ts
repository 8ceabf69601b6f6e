import { expect, test } from "vitest";
import { wordSorting } from "../../../../../lib/domains/logic/games/word-sorting/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

test.each(LEVELS)("at level %i the words are in the order that the question describes", (level) => {
  let changed = 0;
  for (const { question, answer, effort } of draws(wordSorting, level, 100)) {
    const [, front, direction, listed] =
      /begins with ([a-z, ]+) and then .* in (\w+) order of that alphabet: ([a-z, ]+)\./.exec(question)!;
    const first = front!.split(", ");
    // Moved letters become control characters, which sort before all others and keep their order.
    const key = (word: string) =>
      [...word].map((c) => (first.includes(c) ? String.fromCharCode(1 + first.indexOf(c)) : c)).join("");
    const sorted = listed!.split(", ").sort((a, b) => (key(a) < key(b) ? -1 : 1));
    if (direction === "decreasing") sorted.reverse();
    expect(answer).toBe(sorted.join(", "));
    expect(effort).toBe(sorted.length);
    if (sorted.join() !== [...sorted].sort().join()) changed++;
  }
  expect(changed).toBeGreaterThan(50);
});
