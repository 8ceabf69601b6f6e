import { expect, test } from "vitest";
import { mathPath } from "../../../../../lib/domains/logic/games/math-path/draw.ts";
import { draws, LEVELS, metadataOf } from "../../drawing/draws.ts";

/** Evaluates the left side by rewriting: the first product, quotient or remainder, then the first sum or difference. */
function computed(side: string): number {
  let text = side;
  for (const sign of [/^(.*?)(?<![\d.])(-?\d+)([*/%])(\d+)/, /^()(-?\d+)([-+])(\d+)/]) {
    for (let match = sign.exec(text); match !== null; match = sign.exec(text)) {
      const [whole, before, left, operator, right] = match as unknown as [
        string,
        string,
        string,
        string,
        string,
      ];
      // A minus sign before a product belongs to the sum, not to the first factor.
      const lone = before !== "" || operator === "+" || operator === "-" || !left.startsWith("-");
      const a = Math.abs(Number(left)) * (lone && before === "" && left.startsWith("-") ? -1 : 1);
      const b = Number(right);
      const values: Record<string, number> = { "*": a * b, "/": a / b, "%": a % b, "+": a + b, "-": a - b };
      const kept = left.startsWith("-") && a >= 0 ? "-" : "";
      text = before + kept + values[operator]! + text.slice(whole.length);
    }
  }
  return Number(text);
}

test.each([
  ["2+3*4", 14],
  ["9-6/3-1", 6],
  ["0-2*3", -6],
  ["7%4*5", 15],
  ["1-8+2", -5],
])("the reader of this test computes %s = %i", (text, value) => expect(computed(text)).toBe(value));

test.each(LEVELS)("at level %i the stated digits fit the question and make it true", (level) => {
  for (const puzzle of draws(mathPath, level)) {
    const { query_expr, ref_expr } = metadataOf<{ query_expr: string; ref_expr: string }>(puzzle);
    expect(puzzle.question).toContain(`\n\n${query_expr}\n\n`);
    expect(puzzle.solution).toBe(`[[${ref_expr}]]`);
    expect(query_expr.split("?").length - 1).toBe(puzzle.effort);
    const pattern = new RegExp(`^${query_expr.replace(/[+*]/g, "\\$&").replaceAll("?", "\\d")}$`);
    expect(ref_expr).toMatch(pattern);
    const [left, right] = ref_expr.split(" = ") as [string, string];
    expect([ref_expr, computed(left)]).toEqual([ref_expr, Number(right)]);
  }
});
