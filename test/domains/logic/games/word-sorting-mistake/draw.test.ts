import { expect, test } from "vitest";
import { wordSortingMistake } from "../../../../../lib/domains/logic/games/word-sorting-mistake/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

test.each(LEVELS)("at level %i the stated thought is the first that inserts wrongly", (level) => {
  const answers = new Set<unknown>();
  for (const { question, answer, solution, effort } of draws(wordSortingMistake, level)) {
    const thoughts = [...question.matchAll(/^Thought (\d+): insert (\w+): (.+)$/gm)];
    const lists = thoughts.map(([, , , list]) => list!.split(" < "));
    const wrong = thoughts.findIndex(([, , word], i) => {
      const before = i === 0 ? [] : lists[i - 1]!;
      return [...before, word].sort().join() !== lists[i]!.join();
    });
    expect([answer, solution]).toEqual(
      wrong < 0 ? [null, "\\boxed{No}"] : [wrong + 1, `\\boxed{${wrong + 1}}`],
    );
    expect(effort).toBe(thoughts.length);
    answers.add(answer);
  }
  expect(answers.has(null)).toBe(true);
  expect(answers.size).toBeGreaterThan(level + 3);
});
