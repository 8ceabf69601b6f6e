import { expect, test } from "vitest";
import { isHeldOut } from "../../lib/data/index.ts";
import { openProblemSource, PROBLEM_SOURCES } from "../../lib/domains/index.ts";
import { PUZZLES } from "../../lib/domains/logic/puzzles.ts";
import { writeRows } from "../data/filtered.ts";

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

test("a set that is read for any domain is of the one whose source it is, and its rows are judged by that name", async () => {
  const row = (ability: string, ground_truth: string) => ({
    ability,
    prompt: `Do what ${ability} does.`,
    reward_model: { ground_truth },
  });
  const tests = JSON.stringify({ inputs: ["1"], outputs: ["2"] });
  const path = writeRows("verl-of-two.jsonl", [row("math", "2"), row("code", tests)]);
  for (const domain of ["math", "code"]) {
    const source = await openProblemSource(`verl:${path}`, { seed: 1, ordinal: 0, domain });
    expect(source.report).toMatchObject({ rows: 2, leftOut: [{ rows: 1 }] });
    const only = source.heldOutCount === 1 ? source.heldOut(0) : source.problem(0);
    expect(only).toMatchObject({ domain, verifier: domain });
  }
  const spec = { kind: "verl", path, verifier: "math" } as const;
  const named = await openProblemSource(spec, { seed: 1, ordinal: 0, domain: "sums" });
  expect(named.domain).toBe("sums");
  await expect(
    openProblemSource(`verl:${path}`, { seed: 1, ordinal: 0, domain: "sums" }),
  ).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: "verl: rows of this shape are judged by math or code, not sums",
  });
});
