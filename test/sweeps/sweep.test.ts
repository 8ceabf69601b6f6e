import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { lockFolder } from "../../lib/shared/files/folder-lock.ts";
import { defineSweep } from "../../lib/sweeps/definition.ts";
import type { JobEntry } from "../../lib/sweeps/job-states.ts";
import { progressIn } from "../../lib/sweeps/process.ts";
import { planSweep, runSweep } from "../../lib/sweeps/sweep.ts";
import { tinyRecipe } from "../e2e/tiny-recipe.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const command = [process.execPath, join(import.meta.dirname, "fake-hone.mjs")];
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-sweep-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

const named = (recipe = smallRecipe()) =>
  planSweep(
    defineSweep({
      name: "s",
      recipe,
      cells: { one: [], two: ["name=fails"], three: ["name=three"] },
      seeds: 2,
    }),
    {},
  );
const states = (jobs: readonly JobEntry[]) => jobs.map(({ cell, seed, state }) => [cell, seed, state]);
const callAt = (id: string) =>
  JSON.parse(readFileSync(join(dir, id, "calls.json"), "utf8")) as {
    at: number;
    threads?: string;
    startFrom?: string;
  };

test("one that fails stops no other, and is tried again by the next session, which repeats nothing else", async () => {
  const jobs = await runSweep(named(), { dir, command });
  expect(states(jobs)).toEqual([
    ["one", 7, "done"],
    ["two", 7, "failed"],
    ["three", 7, "done"],
    ["one", 8, "done"],
    ["two", 8, "failed"],
    ["three", 8, "done"],
  ]);
  expect(jobs[1]).toMatchObject({ error: "HONE_ERR_DATA  no rows", log: `${jobs[1]!.id}.log` });
  const before = jobs.map(({ id }) => callAt(id).at);
  const again = await runSweep(named(), { dir, command });
  expect(again.map(({ id }) => callAt(id).at > before[again.findIndex((job) => job.id === id)]!)).toEqual([
    false,
    true,
    false,
    false,
    true,
    false,
  ]);
});

test("runs that share a warm start wait for it and begin with it; where it fails, they have failed", async () => {
  vi.stubEnv("HONE_THREADS", undefined);
  const plan = (name: string) =>
    planSweep(
      defineSweep({
        name: "s",
        recipe: tinyRecipe(),
        cells: { a: [`name=${name}`], b: [`name=${name}`, "sampler=static"] },
        seeds: 1,
      }),
      {},
    );
  const jobs = await runSweep(plan("slow"), { dir, command, parallel: 2 });
  expect(states(jobs)).toEqual([
    [undefined, 3, "done"],
    ["a", 3, "done"],
    ["b", 3, "done"],
  ]);
  const [start, a, b] = jobs.map(({ id }) => callAt(id));
  expect(Math.min(a!.at, b!.at)).toBeGreaterThanOrEqual(start!.at + 300);
  expect([a!.startFrom, start!.startFrom]).toEqual([
    join(dir, jobs[0]!.id, "checkpoints/warm-start"),
    undefined,
  ]);
  expect(Number(a!.threads)).toBeGreaterThanOrEqual(1);
  const failed = await runSweep(plan("fails"), { dir: join(dir, "other"), command, parallel: 2 });
  expect(states(failed)).toEqual([
    [undefined, 3, "failed"],
    ["a", 3, "failed"],
    ["b", 3, "failed"],
  ]);
  expect(failed[1]!.error).toContain(`its warm start failed: ${failed[0]!.id}.log`);
});

test("several that wait for a warm start let the process that makes it end", async () => {
  const cells = {
    a: ["name=slow"],
    b: ["name=slow", "sampler=static"],
    c: ["name=slow", "training.steps=3"],
  };
  const plan = planSweep(defineSweep({ name: "s", recipe: tinyRecipe(), cells, seeds: 1 }), {});
  const jobs = await runSweep(plan, { dir, command, parallel: 3 });
  expect(jobs.map(({ state }) => state)).toEqual(["done", "done", "done", "done"]);
});

test("a warm start that no run waits for is not run again", async () => {
  const plan = planSweep(
    defineSweep({ name: "s", recipe: tinyRecipe(), cells: { a: [], b: ["sampler=static"] }, seeds: 1 }),
    {},
  );
  const [start] = await runSweep(plan, { dir, command });
  rmSync(join(dir, start!.id), { recursive: true });
  const jobs = await runSweep(plan, { dir, command });
  expect(jobs.map(({ state }) => state)).toEqual(["done", "done", "done"]);
  expect(existsSync(join(dir, start!.id))).toBe(false);
});

test("told to stop, it stops what runs, begins nothing more, and the rest waits for the next session", async () => {
  const controller = new AbortController();
  const plan = planSweep(
    defineSweep({
      name: "s",
      recipe: smallRecipe({}, { name: "lingers" }),
      cells: { a: [], b: ["training.steps=3"] },
      seeds: 1,
    }),
    {},
  );
  const onChange = async (jobs: readonly JobEntry[]) => {
    if (jobs[0]!.state !== "running") return;
    while (!existsSync(join(dir, jobs[0]!.id, "calls.json"))) await sleep(20);
    await sleep(200);
    controller.abort();
  };
  const jobs = await runSweep(plan, { dir, command, signal: controller.signal, onChange });
  expect(states(jobs)).toEqual([
    ["a", 7, "stopped"],
    ["b", 7, "waiting"],
  ]);
});

test("where its states cannot be written, what runs is stopped before the folder is let go", async () => {
  const cells = { a: ["name=lingers"], b: ["name=waits"] };
  const plan = planSweep(defineSweep({ name: "s", recipe: smallRecipe(), cells, seeds: 1 }), {});
  const [lingers, ends] = plan.jobs.map(({ id }) => id) as [string, string];
  const onChange = (jobs: readonly JobEntry[]) => {
    if (jobs.find(({ id }) => id === ends)!.state !== "running" && existsSync(join(dir, ends, "go")))
      throw new Error("the disk is full");
  };
  const swept = expect(runSweep(plan, { dir, command, parallel: 2, onChange })).rejects.toThrow(
    "disk is full",
  );
  const listens = (id: string) => progressIn(join(dir, `${id}.log`)) === "step 3";
  while (!listens(lingers) || !listens(ends)) await sleep(20);
  writeFileSync(join(dir, ends, "go"), "");
  await swept;
  expect(JSON.parse(readFileSync(join(dir, lingers, "summary.json"), "utf8"))).toEqual({ state: "stopped" });
});

test("a folder that another sweep has is refused", async () => {
  using _lock = await lockFolder(dir, "a sweep");
  await expect(runSweep(named(), { dir, command })).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("a grid multiplies the axes of a file; seeds count up from the recipe's", () => {
  const sweep = defineSweep({
    name: "s",
    recipe: smallRecipe(),
    axes: { steps: { few: ["training.steps=1"], many: ["training.steps=9"] } },
  });
  const plan = planSweep(sweep, { grid: ["sampler=static|adaptive"], seeds: 2 });
  expect(plan.cells.map(({ name }) => name)).toEqual([
    "steps few, sampler static",
    "steps few, sampler adaptive",
    "steps many, sampler static",
    "steps many, sampler adaptive",
  ]);
  expect(plan.seeds).toEqual([7, 8]);
  expect(planSweep(sweep, { axes: ["steps"] }).seeds).toEqual([7, 8, 9]);
  const listed = defineSweep({ name: "s", recipe: smallRecipe(), cells: { a: [] } });
  expect(() => planSweep(listed, { grid: ["sampler=static"] })).toThrow("lists its cells");
  expect(() => planSweep(listed, { axes: ["steps"] })).toThrow("has no axis steps");
});
