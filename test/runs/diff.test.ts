import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compareRuns, diffRuns, type Measure, type RunsDifference } from "../../lib/runs/index.ts";
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
  writeRun(join(dir, "b", "3"), { seed: 3, lr: 0.02 }); // this run was killed, so it has no result
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

/** Writes steps with a score of 0.1 per step from `first` on; the domain `math` scores 1 more. */
function writeSteps(dir: string, steps: number, first: number): void {
  const line = (step: number) => {
    const score = first + step / 10;
    return JSON.stringify({
      step,
      version: step,
      metrics: { "score/mean": score, "score/mean/math": score + 1, "score/mean/code": score - 1 },
    });
  };
  writeFileSync(
    join(dir, "steps.jsonl"),
    Array.from({ length: steps }, (_, i) => `${line(i + 1)}\n`).join(""),
  );
}

test("a stopped run is compared at the last step that both have done, with the noise of the steps", async () => {
  const dir = scratch();
  const a = writeRun(join(dir, "a"), { steps: 40, ofSteps: 40, state: "done", after: table(0.5, 0.7) });
  const b = writeRun(join(dir, "b"), { steps: 20, ofSteps: 40, state: "stopped" });
  writeSteps(a, 40, 0);
  writeSteps(b, 20, 5);
  const { training, results } = await diffRuns(a, b);
  expect(results.every(({ b: of, difference }) => of === undefined && difference === undefined)).toBe(true);
  expect(training).toMatchObject({ from: 6, to: 20 });
  // scores 0.6, 0.7, ... 2.0 have mean 1.3; fifteen consecutive integers have variance 20
  const mean = training!.results.find(({ measure, domain }) => measure === "score" && domain === "mean")!;
  expect(mean.a!.mean).toBeCloseTo(1.3, 12);
  expect(mean.b!.mean).toBeCloseTo(6.3, 12);
  expect(mean.difference!.mean).toBeCloseTo(5, 12);
  expect(mean.standardError).toBeCloseTo(Math.sqrt((0.2 + 0.2) / 15), 12);
  expect(mean.is).toBe("higher");
  const math = training!.results.find(({ measure, domain }) => measure === "score" && domain === "math")!;
  expect(math.a!.mean).toBeCloseTo(2.3, 12);
  expect((await diffRuns(b, a)).training!.results[0]!.is).toBe("lower");
});

test("a difference of two standard errors or less is noise, in problems and in steps", async () => {
  const dir = scratch();
  const error = 0.03 * Math.SQRT2;
  const a = writeRun(join(dir, "a"), { state: "done", after: table(0.5, 0.5) });
  const beside = async (name: string, math: number) =>
    result(
      await diffRuns(a, writeRun(join(dir, name), { state: "done", after: table(math, 0.5) })),
      "score",
      "math",
    );
  expect((await beside("near", 0.5 + 1.99 * error)).is).toBe("noise");
  expect((await beside("far", 0.5 + 2.01 * error)).is).toBe("higher");
  expect((await beside("under", 0.5 - 2.01 * error)).is).toBe("lower");
});

test("three runs: each beside the first, at the last step that all have done, with the fields of all", async () => {
  const dir = scratch();
  const steps = [9, 3, 6];
  const dirs = steps.map((count, i) =>
    writeRun(join(dir, String(i)), { steps: count, ofSteps: 9, lr: i === 2 ? 0.1 : 0.001, seed: i }),
  );
  const compared = await compareRuns(dirs);
  expect(compared.runs.map(({ steps: done }) => done)).toEqual(steps);
  expect(compared.recipe).toEqual([{ path: "optimizer.lr", values: ["0.001", "0.001", "0.1"] }]);
  expect(compared.differences.map(({ training }) => [training!.from, training!.to])).toEqual([
    [1, 3],
    [1, 3],
  ]);
  expect(compared.differences[1]!.training!.results[0]).toMatchObject({
    difference: { mean: 0 },
    is: "noise",
  });
  expect((await compareRuns(dirs.slice(0, 2))).recipe).toEqual([]);
});
