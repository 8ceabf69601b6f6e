import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readValidations, select, type Validation, writeValidations } from "../../lib/evaluation/index.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-selection-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A validation with the scores of two math and two code problems; the board gives the mean and its error. */
function validation(step: number, score: number, [a, b, c, d]: readonly number[]): Validation {
  const problem = (id: string, domain: string, value = 0) => ({ id, domain, score: value });
  return {
    step,
    version: step,
    seconds: 1,
    tokens: 10,
    boards: [{ mean: { score, standardError: 0.1 } }] as unknown as Validation["boards"],
    problems: [
      problem("1", "math", a),
      problem("2", "math", b),
      problem("3", "code", c),
      problem("4", "code", d),
    ],
  };
}

test("the best mean is taken, and the next told with its distance on the same problems", () => {
  const rows = [
    validation(50, 0.4, [0, 1, 0, 0.6]),
    validation(100, 0.7, [1, 1, 0.2, 0.6]),
    validation(150, 0.6, [1, 0.4, 0.4, 0.6]),
  ];
  const selection = select(rows)!;
  expect(selection.best).toEqual({ step: 100, score: 0.7, standardError: 0.1 });
  // differences: math 0 and 0.6 (mean 0.3, error 0.3), code -0.2 and 0 (mean -0.1, error 0.1)
  expect(selection.runnerUp).toMatchObject({ step: 150, score: 0.6 });
  expect(selection.runnerUp!.behind).toBeCloseTo(0.1, 12);
  expect(selection.runnerUp!.behindError).toBeCloseTo(Math.hypot(0.3, 0.1) / 2, 12);
});

test("of equal means the earlier step is taken; one alone has no runner-up; none is no selection", () => {
  const [late, early] = [validation(20, 0.5, [1, 0, 1, 0]), validation(10, 0.5, [1, 0, 1, 0])];
  expect(select([late, early])!.best.step).toBe(10);
  expect(select([late])).toEqual({ best: { step: 20, score: 0.5, standardError: 0.1 } });
  expect(select([])).toBeUndefined();
});

test("only problems that both have are compared", () => {
  const [best, other] = [validation(1, 0.9, [1, 1, 1, 1]), validation(2, 0.1, [0, 1, 1, 1])];
  const fewer = { ...other, problems: other.problems.slice(1) };
  expect(select([best, fewer])!.runnerUp).toMatchObject({ behind: 0, behindError: 0 });
});

test("what is written comes back; a damaged file is a typed error that names it", () => {
  const path = join(dir, "validation.json");
  expect(readValidations(path)).toEqual([]);
  const rows = [validation(5, 0.5, [1, 0, 1, 0])];
  writeValidations(path, rows);
  expect(readValidations(path)).toEqual(rows);
  for (const text of ["[1]", '[{"step": 5}]', "{}"]) {
    writeFileSync(path, text);
    expect(() => readValidations(path)).toThrow(
      expect.objectContaining({ code: "HONE_ERR_FORMAT", message: expect.stringContaining(path) }),
    );
  }
});
