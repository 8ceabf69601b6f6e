import { expect, test } from "vitest";
import { dyckLanguageReasoningErrors } from "../../../../../lib/domains/logic/games/dyck-language-reasoning-errors/draw.ts";
import { draws, LEVELS, metadataOf } from "../../drawing/draws.ts";

const cancelled = (text: string): string => {
  const shorter = text.replace(/\(\)|\[\]|\{\}|<>/g, "");
  return shorter === text ? text : cancelled(shorter);
};

test.each(LEVELS)("at level %i exactly the stated thoughts note another stack than the true one", (level) => {
  const counts = new Set<number>();
  for (const puzzle of draws(dyckLanguageReasoningErrors, level)) {
    const thoughts = [...puzzle.question.matchAll(/^Thought (\d+): (.) ; stack: (\S+)$/gm)];
    const wrong = thoughts.filter(([, number, , stack]) => {
      const read = thoughts.slice(0, Number(number)).map(([, , bracket]) => bracket);
      return cancelled(read.join("")) !== (stack === "empty" ? "" : stack);
    });
    const indices = wrong.map(([, number]) => Number(number));
    expect(metadataOf(puzzle)).toMatchObject({ error_indices: indices });
    expect(puzzle.solution).toBe(indices.join(",") || '""');
    expect(puzzle.question).toContain(thoughts.map(([, , bracket]) => bracket).join(""));
    counts.add(indices.length);
  }
  expect([...counts].sort()).toEqual([0, 1, 2, 3]);
});
