import { expect, test } from "vitest";
import { mathador } from "../../../../../lib/domains/logic/games/mathador/draw.ts";
import { draws, LEVELS, metadataOf } from "../../drawing/draws.ts";

/** Evaluates a fully parenthesised expression to 1e-9 by rewriting its innermost parts. */
function computed(expression: string): number {
  const number = "(-?\\d+(?:\\.\\d+)?(?:e[-+]\\d+)?)";
  const inner = new RegExp(`\\(${number}([-+*/])${number}\\)`);
  let text = expression;
  for (let match = inner.exec(text); match !== null; match = inner.exec(text)) {
    const [a, b] = [Number(match[1]), Number(match[3])];
    const values: Record<string, number> = { "+": a + b, "-": a - b, "*": a * b, "/": a / b };
    text = text.replace(match[0], `${values[match[2]!]}`);
  }
  return Number(text);
}

test.each(LEVELS)("at level %i the expression uses the numbers once and gives 24", (level) => {
  let divisions = 0;
  for (const puzzle of draws(mathador, level, 60)) {
    const expression = puzzle.solution.split("\n")[1]!;
    const { numbers } = metadataOf<{ numbers: number[] }>(puzzle);
    expect(puzzle.question).toContain(`the numbers ${numbers.join(", ")} with`);
    const used = expression.match(/\d+/g)!.map(Number);
    expect(used.sort((a, b) => a - b)).toEqual([...numbers].sort((a, b) => a - b));
    expect(Math.abs(computed(expression) - 24)).toBeLessThan(1e-9);
    if (expression.includes("/")) divisions++;
  }
  expect(divisions).toBeGreaterThan(level === 3 ? -1 : 0);
});
