import { expect, test } from "vitest";
import { cryptarithm } from "../../../../../lib/domains/logic/games/cryptarithm/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

/** Finds every solution of "AB + CD = EFG" or "AB - CD = EF" by trying all digits for each letter. */
function solutions(equation: string): string[] {
  const letters = [...new Set(equation.replace(/[^A-Z]/g, ""))];
  const leading = new Set(equation.match(/\b[A-Z]/g));
  const found: string[] = [];
  const assign = (at: number, text: string, left: readonly number[]): void => {
    if (at === letters.length) {
      const [a, operator, b, , c] = text.split(" ") as [string, string, string, string, string];
      const value = operator === "+" ? Number(a) + Number(b) : Number(a) - Number(b);
      if (value === Number(c)) found.push(text);
      return;
    }
    for (const digit of left) {
      if (digit === 0 && leading.has(letters[at]!)) continue;
      assign(
        at + 1,
        text.replaceAll(letters[at]!, `${digit}`),
        left.filter((other) => other !== digit),
      );
    }
  };
  assign(0, equation, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  return found;
}

const equationOf = (question: string) => /^In ([A-Z +=-]+) every letter/.exec(question)![1]!;

test.each([0, 1])("at level %i brute force finds the stated solution and no other", (level) => {
  const few = draws(cryptarithm, level).filter(
    ({ question }) => new Set(equationOf(question).replace(/[^A-Z]/g, "")).size <= 6,
  );
  expect(few.length).toBeGreaterThan(4);
  for (const { question, answer } of few.slice(0, 5))
    expect([question, solutions(equationOf(question))]).toEqual([question, [answer]]);
});

test.each(LEVELS)("at level %i the stated equation fits the letters and holds", (level) => {
  const signs = new Set<string>();
  for (const { question, answer } of draws(cryptarithm, level)) {
    const letters = equationOf(question);
    const stated = answer as string;
    const pairs = new Set([...letters].map((letter, i) => letter + stated[i]));
    const [from, to] = [
      new Set([...pairs].map((pair) => pair[0])),
      new Set([...pairs].map((pair) => pair[1])),
    ];
    expect([stated.length, from.size, to.size]).toEqual([letters.length, pairs.size, pairs.size]);
    const [a, sign, b, , c] = stated.split(" ");
    expect(sign === "+" ? Number(a) + Number(b) : Number(a) - Number(b)).toBe(Number(c));
    signs.add(sign!);
  }
  expect(signs.size).toBe(2);
});
