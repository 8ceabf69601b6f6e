import { expect, test } from "vitest";
import { operation } from "../../../../../lib/domains/logic/games/operation/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

type Rules = ReadonlyMap<string, (a: number, b: number) => number>;

/** Returns the function that a rule's words describe. */
function compute(rule: string): (a: number, b: number) => number {
  const numbers = rule.match(/\d+/g)!.map(Number) as [number, number, number];
  const [p, q, r] = numbers;
  if (rule.includes("if a > b")) return (a, b) => (a > b ? a + p * b : q * b - a);
  if (rule.startsWith("the larger of")) return (a, b) => Math.max(p * a, b) - q;
  if (rule.startsWith("a*b")) return (a, b) => a * b - p * a + q;
  return (a, b) => p * a - q * b + r;
}

/** Evaluates a fully parenthesised expression, innermost parts first. */
function value(expression: string, rules: Rules): number {
  const step = (text: string, pattern: RegExp) =>
    text.replace(
      pattern,
      (_, a: string, operator: string, b: string) => `${rules.get(operator)!(Number(a), Number(b))}`,
    );
  let text = expression;
  while (text.includes("(")) {
    const next = step(text, /\((-?\d+) (\S) (-?\d+)\)/);
    if (next === text) throw new Error(`cannot read ${text}`);
    text = next;
  }
  return Number(step(text, /^(-?\d+) (\S) (-?\d+)$/));
}

test.each(LEVELS)("at level %i the stated value follows from the rules as they are told", (level) => {
  for (const { question, answer, effort } of draws(operation, level)) {
    const told = [...question.matchAll(/^a (\S) b is (.+)\.$/gm)];
    const rules: Rules = new Map([
      ["+", (a, b) => a + b],
      ["-", (a, b) => a - b],
      ["*", (a, b) => a * b],
      ...told.map(([, symbol, rule]) => [symbol!, compute(rule!)] as const),
    ]);
    const expression = /value of (.+)\? Put/.exec(question)![1]!;
    expect([expression, answer]).toEqual([expression, `${value(expression, rules)}`]);
    expect(told.some(([, symbol]) => expression.includes(symbol!))).toBe(true);
    expect(expression.match(/ \S (?=[(\d-])/g)).toHaveLength(effort);
  }
});
