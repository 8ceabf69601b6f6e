import { expect, test } from "vitest";
import { booleanExpressions } from "../../../../../lib/domains/logic/games/boolean-expressions/draw.ts";
import { draws } from "../../drawing/draws.ts";

const FALSE_FACTS = /Spiders|larger than the Earth|capital of Spain|Ice is|one hundred|North Pole/;

/** Evaluates a statement by rewriting innermost parts to 1 and 0, using only what its words mean. */
function holds(statement: string): boolean {
  let text = statement.replace(/[A-Z][a-zA-Z ]+\./g, (fact) => (FALSE_FACTS.test(fact) ? "0" : "1"));
  text = text.replace(
    /\((-?\d+) \* (-?\d+) \+ (-?\d+)\)/g,
    (_, a, b, c) => `<${Number(a) * Number(b) + Number(c)}>`,
  );
  text = text.replace(
    /\((-?\d+) - (-?\d+) \* (-?\d+)\)/g,
    (_, a, b, c) => `<${Number(a) - Number(b) * Number(c)}>`,
  );
  text = text.replace(/<(-?\d+)> ([a-z ]+) <(-?\d+)>/g, (_, left, words, right) => {
    const [a, b] = [Number(left), Number(right)];
    const signs: Record<string, boolean> = {
      "is greater than": a > b,
      "is less than": a < b,
      "is less than or equal to": a <= b,
      equals: a === b,
    };
    return signs[words] ? "1" : "0";
  });
  text = text.replace(/True/g, "1").replace(/False/g, "0");
  for (let before = ""; before !== text; ) {
    before = text;
    text = text
      .replace(/not \(([01])\)/g, (_, x) => (x === "0" ? "1" : "0"))
      .replace(/\(([01])\) and \(([01])\)/g, (_, x, y) => (x === "1" && y === "1" ? "1" : "0"))
      .replace(/\(([01])\) or \(([01])\)/g, (_, x, y) => (x === "1" || y === "1" ? "1" : "0"));
  }
  if (!/^[01]$/.test(text)) throw new Error(`cannot read ${statement}: ${text}`);
  return text === "1";
}

test.each([0, 1, 2, 3])("at level %i the stated letters are those of the statements that hold", (level) => {
  const lengths = new Set<number>();
  for (const { question, answer, effort } of draws(booleanExpressions, level)) {
    const options = [...question.matchAll(/^([A-F])\. (.*)$/gm)];
    const true_ = options.filter(([, , text]) => holds(text!)).map(([, letter]) => letter);
    expect(answer).toBe(true_.join(","));
    expect(true_.length).toBeGreaterThan(0);
    expect(effort).toBe(question.match(/not \(|\) and \(|\) or \(|\. and|\. or/g)?.length ?? 0);
    lengths.add(true_.length);
  }
  expect(lengths.size).toBeGreaterThan(2);
});
