import { expect, test } from "vitest";
import { openProblemSource, PROBLEM_SOURCES } from "../../lib/data/index.ts";

test("every registered source opens and names its domain", async () => {
  for (const [ordinal, name] of Object.keys(PROBLEM_SOURCES).entries()) {
    const source = await openProblemSource(name, { seed: 1, ordinal });
    expect(name).toBe(`procedural/${source.domain}`);
    const problem = source.problem(0);
    expect(problem).toMatchObject({ domain: source.domain });
    expect(source.families).toContain(problem.family);
  }
});

test.each(["procedural/poetry", "", "toString", "__proto__"])("no source is called %j", async (name) => {
  await expect(openProblemSource(name, { seed: 1, ordinal: 0 })).rejects.toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringContaining("procedural/math") }),
  );
});
