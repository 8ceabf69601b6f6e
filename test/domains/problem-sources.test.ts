import { expect, test } from "vitest";
import { isHeldOut } from "../../lib/data/index.ts";
import { openProblemSource, PROBLEM_SOURCES } from "../../lib/domains/index.ts";
import { PUZZLES } from "../../lib/domains/logic/puzzles.ts";

test("every registered source opens and names its domain", async () => {
  for (const [ordinal, name] of Object.keys(PROBLEM_SOURCES).entries()) {
    const source = await openProblemSource(name, { seed: 1, ordinal });
    if (name.startsWith("puzzles")) expect(source.domain).toBe("logic");
    else expect(name).toBe(`procedural/${source.domain}`);
    const problem = source.problem(0);
    expect(problem).toMatchObject({ domain: source.domain });
    expect(source.families).toContain(problem.family);
  }
});

test("puzzles are a source together and one by one", async () => {
  const tasks = PUZZLES.map(({ task }) => task);
  expect((await openProblemSource("puzzles", { seed: 1, ordinal: 0 })).families).toEqual(tasks);
  for (const task of tasks) {
    const source = await openProblemSource(`puzzles/${task}`, { seed: 1, ordinal: 0 });
    expect(source.families).toEqual([task]);
    expect(source.problem(5)).toEqual(source.problem(5));
    expect(isHeldOut(source.problem(3).question)).toBe(false);
    expect(isHeldOut(source.heldOut(3).question)).toBe(true);
  }
});

test.each(["procedural/poetry", "", "toString", "__proto__"])("no source is called %j", async (name) => {
  await expect(openProblemSource(name, { seed: 1, ordinal: 0 })).rejects.toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringContaining("procedural/math") }),
  );
});
