import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isDone, JobStates, type SweepFile } from "../../lib/sweeps/job-states.ts";
import type { Job } from "../../lib/sweeps/plan.ts";
import { tinyRecipe } from "../e2e/tiny-recipe.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-sweep-states-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function summary(id: string, text: string): void {
  mkdirSync(join(dir, id), { recursive: true });
  writeFileSync(join(dir, id, "summary.json"), text);
}

const job = (id: string, seed: number): Job => ({ id, cell: "a", seed, recipe: tinyRecipe() });
const head = { name: "s", seeds: [0, 1], parallel: 1, cells: [] };
const onDisk = () => JSON.parse(readFileSync(join(dir, "sweep.json"), "utf8")) as SweepFile;

test("begins with what is finished, and is on disk after every change", () => {
  summary("a/0", '{"state":"done"}');
  const told: string[][] = [];
  const states = new JobStates(dir, head, [job("a/0", 0), job("a/1", 1)], (jobs) =>
    told.push(jobs.map(({ state }) => state)),
  );
  expect(onDisk().jobs.map(({ state }) => state)).toEqual(["done", "waiting"]);
  states.set("a/1", { state: "running" });
  expect(onDisk().jobs[1]).toEqual({ id: "a/1", cell: "a", seed: 1, log: "a/1.log", state: "running" });
  states.set("a/1", { state: "failed", error: "no", seconds: 2 });
  expect(onDisk()).toMatchObject({
    schema: 1,
    name: "s",
    seeds: [0, 1],
    jobs: [{}, { state: "failed", error: "no", seconds: 2 }],
  });
  expect(told).toEqual([
    ["done", "running"],
    ["done", "failed"],
  ]);
  expect([states.stateOf("a/1"), states.stateOf("b")]).toEqual(["failed", undefined]);
});

test.each([
  ['{"state":"done"}', true],
  ['{"state":"stopped"}', false],
  ['{"state":"do', false],
  ["7", false],
])("a summary of %s is of a finished run: %s", (text, done) => {
  summary("x", text);
  expect(isDone(join(dir, "x"))).toBe(done);
  expect(isDone(join(dir, "nowhere"))).toBe(false);
});
