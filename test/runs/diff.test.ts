import { join } from "node:path";
import { expect, test } from "vitest";
import { diffRuns, type Measure, type RunsDifference } from "../../lib/runs/index.ts";
import { scratch, table, writeRun } from "./folders.ts";

const result = ({ results }: RunsDifference, measure: Measure, domain: string) =>
  results.find((one) => one.measure === measure && one.domain === domain)!;

test("two runs: their fields, their results, and the standard error of each difference", async () => {
  const dir = scratch();
  const a = writeRun(join(dir, "a"), { state: "done", after: table(0.5, 0.7) });
  const b = writeRun(join(dir, "b"), { state: "done", lr: 0.003, after: table(0.75, 0.65) });
  const difference = await diffRuns(a, b);
  expect(difference.recipe).toEqual([{ path: "optimizer.lr", a: ["0.001"], b: ["0.003"] }]);
  expect(difference.results.map(({ domain }) => domain).slice(0, 3)).toEqual(["mean", "math", "code"]);
  const math = result(difference, "score", "math");
  expect(math).toMatchObject({
    a: { mean: 0.5 },
    b: { mean: 0.75 },
    difference: { n: 1, mean: 0.25 },
    paired: false,
  });
  expect(math.standardError).toBeCloseTo(0.03 * Math.SQRT2, 12);
  expect(result(difference, "meanTokens", "mean").standardError).toBeCloseTo(4 * Math.SQRT2, 12);
  expect(result(difference, "solveRate", "mean").standardError).toBeUndefined();
});

test("seeds on both sides: spread of each, differences seed by seed", async () => {
  const dir = scratch();
  for (const [seed, was, is] of [
    [0, 0.4, 0.5],
    [1, 0.5, 0.62],
    [2, 0.6, 0.68],
  ] as const) {
    writeRun(join(dir, "a", String(seed)), { seed, state: "done", after: table(was, was) });
    writeRun(join(dir, "b", String(seed)), { seed, state: "done", lr: 0.01, after: table(is, is) });
  }
  writeRun(join(dir, "b", "3"), { seed: 3, lr: 0.02 }); // killed: it has no result
  const difference = await diffRuns(join(dir, "a"), join(dir, "b"));
  expect(difference.recipe).toEqual([{ path: "optimizer.lr", a: ["0.001"], b: ["0.01", "0.02"] }]);
  const mean = result(difference, "score", "mean");
  expect(mean.paired).toBe(true);
  expect(mean.a).toMatchObject({ n: 3 });
  expect([mean.a!.mean, mean.a!.deviation]).toEqual([expect.closeTo(0.5, 12), expect.closeTo(0.1, 12)]);
  // differences 0.1, 0.12, 0.08: mean 0.1, deviation 0.02, t(2) = 4.30265
  expect(mean.difference).toMatchObject({
    n: 3,
    mean: expect.closeTo(0.1, 12),
    deviation: expect.closeTo(0.02, 12),
  });
  expect(mean.difference!.interval!.high).toBeCloseTo(0.1 + (4.302652729696142 * 0.02) / Math.sqrt(3), 9);
  expect(mean.standardError).toBeUndefined();
});

test("runs without an evaluation differ in their recipes alone; a folder without runs is an error", async () => {
  const dir = scratch();
  const a = writeRun(join(dir, "a"), {});
  expect(await diffRuns(a, a)).toMatchObject({ recipe: [], results: [] });
  await expect(diffRuns(a, scratch())).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});
