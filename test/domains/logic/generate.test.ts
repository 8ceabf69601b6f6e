import { expect, test } from "vitest";
import { latinSquare, truthTable } from "../../../lib/domains/logic/generate.ts";
import { CounterRandom } from "../../../lib/random.ts";

// Deliberate faults (mutants) that these tests detect: variable masks are swapped, negation applies to the formula
// instead of the variable, a row has a blank twice, blanks are in drawing order. Each fails a re-derivation below.

/** Evaluates the formula under one assignment, with a parser for the grammar that the question states. */
function holds(formula: string, a: boolean, b: boolean): boolean {
  const values: Record<string, boolean> = { a, b };
  let rest = formula;
  const term = (): boolean => {
    if (rest.startsWith("!")) {
      rest = rest.slice(1);
      return !term();
    }
    if (rest.startsWith("(")) {
      rest = rest.slice(1);
      const inner = chainOf();
      rest = rest.slice(1);
      return inner;
    }
    const value = values[rest[0]!]!;
    rest = rest.slice(1);
    return value;
  };
  const chainOf = (): boolean => {
    let left = term();
    while (/^[&|^]/.test(rest)) {
      const operator = rest[0];
      rest = rest.slice(1);
      const right = term();
      left = operator === "&" ? left && right : operator === "|" ? left || right : left !== right;
    }
    return left;
  };
  return chainOf();
}

const assignments = [
  [false, false],
  [false, true],
  [true, false],
  [true, true],
] as const;

test.each([0, 1, 2, 3])(
  "a truth table at level %i is that of its formula, assignments in counting order",
  (level) => {
    const tables = new Set<string>();
    for (let i = 0; i < 300; i++) {
      const { question, answer, steps, reference } = truthTable.draw(new CounterRandom(5, i, level), level);
      const formula = question.replace("Truth table of ", "");
      expect(formula.match(/[&|^]/g)!.length).toBe([1, 1, 2, 3][level]);
      expect(answer).toBe(assignments.map(([a, b]) => (holds(formula, a, b) ? "1" : "0")).join(""));
      expect(reference).toEqual({ table: answer });
      expect(steps.endsWith(`=${answer}`)).toBe(true);
      tables.add(answer);
    }
    expect(tables.size).toBeGreaterThan(6);
  },
);

/** All ways to fill the blanks without a repetition in a row or column. */
function fillings(rows: readonly string[]): string[] {
  const at = rows.join("").indexOf("_");
  if (at < 0) return [""];
  const row = Math.floor(at / 4);
  const column = at % 4;
  return [..."1234"].flatMap((digit) => {
    const clash = rows[row]!.includes(digit) || rows.some((other) => other[column] === digit);
    if (clash) return [];
    const filled = rows.map((r, i) => (i === row ? r.slice(0, column) + digit + r.slice(column + 1) : r));
    return fillings(filled).map((more) => digit + more);
  });
}

test.each([0, 1, 2, 3])("a Latin square at level %i has one filling, found by search", (level) => {
  for (let i = 0; i < 300; i++) {
    const { question, answer, steps, reference } = latinSquare.draw(new CounterRandom(6, i, level), level);
    const rows = question.replace("Fill ", "").split("/");
    const blanksByRow = rows.map((row) => row.split("_").length - 1);
    expect(Math.max(...blanksByRow)).toBe(1);
    expect(answer.length).toBe([1, 1, 2, 3][level]);
    expect(fillings(rows)).toEqual([answer]);
    expect(reference).toEqual({ rows });
    const blankRows = rows.filter((row) => row.includes("_")).map((row) => row.replace("_", ""));
    expect(steps).toBe(blankRows.map((rest, k) => `${rest}:${answer[k]}`).join(" "));
  }
});

test("all 576 Latin squares of order 4 are drawn", () => {
  const squares = new Set<string>();
  for (let i = 0; i < 8000; i++) {
    const { question, answer } = latinSquare.draw(new CounterRandom(7, i), 0);
    squares.add(question.replace("_", answer));
  }
  expect(squares.size).toBe(576);
});
