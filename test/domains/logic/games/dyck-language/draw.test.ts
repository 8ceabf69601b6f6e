import { expect, test } from "vitest";
import { dyckLanguage } from "../../../../../lib/domains/logic/games/dyck-language/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

const cancelled = (text: string): string => {
  const shorter = text.replace(/\(\)|\[\]|\{\}|<>/g, "");
  return shorter === text ? text : cancelled(shorter);
};

test.each(LEVELS)("at level %i the completion balances, and none shorter could", (level) => {
  for (const { question, solution, effort } of draws(dyckLanguage, level)) {
    const beginning = /\n\n(.+)\n\n/.exec(question)![1]!;
    expect(solution.startsWith(beginning)).toBe(true);
    expect(cancelled(solution)).toBe("");
    const open = cancelled(beginning);
    expect(open).toMatch(/^[([{<]+$/);
    expect([solution.length - beginning.length, effort]).toEqual([open.length, open.length]);
  }
});
