import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeAnswers } from "../../lib/evaluation/index.ts";
import type { JobEntry } from "../../lib/sweeps/job-states.ts";
import { bySeed, domainsOf, moreThan, over, readCells } from "../../lib/sweeps/results.ts";
import { resultOf } from "../evaluation/results.ts";
import { writeSyntheticRun } from "../report/synthetic-run-folder.ts";
import { syntheticCell } from "./synthetic-cells.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-sweep-results-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const a = syntheticCell("a", [
  { seed: 0, before: { math: [0.2, 40], code: [0.4, 40] }, after: { math: [0.5, 20], code: [0.7, 30] } },
  { seed: 1, after: { math: [0.6, 10], code: [0.6, 30] } },
]);
const b = syntheticCell("b", [
  { seed: 1, after: { math: [0.9, 11], code: [0.5, 31] } },
  { seed: 2, after: { math: [0, 0], code: [0, 0] } },
]);

test("measures are taken by seed, of a domain or of the mean, after training or before", () => {
  expect([...bySeed(a, "meanTokens")]).toEqual([
    [0, 25],
    [1, 20],
  ]);
  expect([...bySeed(a, "solveRate", "code")]).toEqual([
    [0, 0.7],
    [1, 0.6],
  ]);
  expect(bySeed(a, "score", "math", "before").get(0)).toBe(0.2);
  expect(bySeed(a, "score", "logic").size).toBe(0);
  expect(over(a, "score", "math")).toMatchObject({ n: 2, mean: 0.55 });
  expect(moreThan(a, b, "score", "math")).toMatchObject({ n: 1, mean: expect.closeTo(0.3, 9) });
  expect(domainsOf([a, b])).toEqual(["math", "code"]);
});

test("validation sets stand behind the domains", () => {
  const [run] = a.runs;
  const [table] = run!.summary.after;
  const sets = { aime: table!.domains["code"]! };
  const summary = { ...run!.summary, after: [{ ...table!, sets }] };
  const cell = { name: "a", runs: [{ ...run!, summary }] };
  expect(domainsOf([cell])).toEqual(["math", "code", "aime"]);
  expect(over(cell, "score", "aime")!.mean).toBe(0.7);
});

test("reads the finished runs of each cell from their folders", () => {
  writeSyntheticRun(join(dir, "r0"));
  writeAnswers(join(dir, "r0", "held-out-after.jsonl"), [resultOf(3, "math", [1, 0], [5, 6])]);
  const job = (id: string, cell: string, seed: number, state: JobEntry["state"]) => ({
    id,
    cell,
    seed,
    state,
    log: "",
  });
  const cells = readCells(
    dir,
    ["x", "y"],
    [job("r0", "x", 4, "done"), job("r1", "x", 5, "failed"), job("r2", "y", 4, "waiting")],
  );
  expect(cells.map(({ name, runs }) => [name, runs.map(({ seed }) => seed)])).toEqual([
    ["x", [4]],
    ["y", []],
  ]);
  const [run] = cells[0]!.runs;
  expect(run!.steps.length).toBeGreaterThan(0);
  expect(run!.summary.name).toBe("quickstart");
  expect(run!.before).toEqual([]);
  expect(run!.after).toMatchObject([{ id: "3", domain: "math", correct: [true, false], tokens: [5, 6] }]);
});
