import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { WatchedRun } from "../../lib/live/watched-run.ts";
import { lockFolder } from "../../lib/shared/files/folder-lock.ts";
import { addStep, smallRun, temporary, writeStatus } from "./live-run.ts";

test("reads what is there, then only what is new", () => {
  const dir = smallRun(3);
  const run = new WatchedRun(dir, 0);
  expect(run.look().rows.map(({ record }) => record.step)).toEqual([1, 2, 3]);
  expect(run.info()).toMatchObject({
    name: "small",
    rows: 3,
    steps: 20,
    domains: ["math", "code"],
    names: ["a", "b"],
  });
  expect(run.look()).toMatchObject({ rows: [], changed: false, replaced: false, status: undefined });
  addStep(dir, 4, { new: 1 });
  expect(run.look()).toMatchObject({ rows: [{ record: { step: 4 } }], changed: true });
  expect(run.info().names).toContain("new");
});

test("a killed and resumed run is one history", () => {
  const dir = smallRun(5);
  const run = new WatchedRun(dir, 0);
  run.look();
  writeFileSync(join(dir, "events.jsonl"), '{"e":"resume","s":2}\n');
  for (const step of [3, 4]) addStep(dir, step, { a: 10 * step });
  const found = run.look();
  expect(found.replaced).toBe(false);
  expect(run.table.steps).toEqual([1, 2, 3, 4]);
  expect(run.table.column("a")).toEqual([1, 2, 30, 40]);
  expect(run.info().marks).toEqual([{ kind: "resume", step: 2, text: "resumed at step 2" }]);
});

test("a cursor stands for what a listener has seen, in this very file", () => {
  const dir = smallRun(3);
  const run = new WatchedRun(dir, 0);
  run.look();
  const seen = run.cursor;
  addStep(dir, 4);
  addStep(dir, 2);
  run.look();
  expect(run.since(seen)?.map(({ record }) => record.step)).toEqual([2]);
  expect(run.since(run.cursor)).toEqual([]);
  expect(run.since("1.0")).toBeUndefined();
  expect(run.since("rubbish")).toBeUndefined();
  expect(run.since(run.cursor.replace(/\d+$/, "999999"))).toBeUndefined();
});

test("a damaged line is left out and counted", () => {
  const dir = smallRun(1);
  writeFileSync(
    join(dir, "steps.jsonl"),
    '{"step":1,"version":1,"metrics":{}}\n{"step":\n{"step":2,"version":2,"metrics":{}}\n',
  );
  const run = new WatchedRun(dir, 0);
  run.look();
  expect([run.table.steps, run.info().damaged]).toEqual([[1, 2], 1]);
});

test.each([
  ["running", {}],
  ["paused", { paused: true }],
  ["stopping", { end: "stopping" }],
  ["stopped", { end: "aborted" }],
  ["done", { end: "done", writtenMs: 0 }],
  ["finishing", { end: "done" }],
  ["failed", { end: "failed" }],
  ["silent", { writtenMs: 0 }],
] as const)("is %s by its line.json", (state, change) => {
  const dir = smallRun(1);
  const run = new WatchedRun(dir, 0);
  expect(run.info().state).toBe("unfinished");
  writeStatus(dir, change);
  expect(run.look().status).toBeDefined();
  expect(run.info().state).toBe(state);
});

/** Looks until the state is reached, because the check of the folder's lock is asynchronous. */
const becomes = (run: WatchedRun, state: string) =>
  vi.waitFor(
    () => {
      run.look();
      expect(run.info().state).toBe(state);
    },
    { timeout: 60_000 },
  );

test("is killed when nobody holds its folder, silent when somebody does, running when it writes again", async () => {
  const dir = smallRun(1);
  const run = new WatchedRun(dir, 0);
  const looked = async () => {
    run.look();
    await setTimeout(50);
    run.look();
    return run.info().state;
  };
  writeStatus(dir, { writtenMs: Date.now() - 5000 });
  await becomes(run, "killed");
  {
    using _ = await lockFolder(dir);
    await becomes(run, "running");
    writeStatus(dir, { writtenMs: Date.now() - 20_000 });
    expect(await looked()).toBe("running"); // the file has just changed, whatever time the writer recorded
    await becomes(new WatchedRun(dir, 0), "silent");
  }
  writeStatus(dir, { end: "done", writtenMs: 0 });
  await becomes(run, "done");
});

test("is finishing while the process that has trained holds its folder, done with its summary or its end", async () => {
  const dir = smallRun(1);
  writeFileSync(join(dir, "summary.json"), "{}"); // the previous session's summary
  utimesSync(join(dir, "summary.json"), 1, 1);
  writeStatus(dir, { end: "done", writtenMs: 0 });
  const run = new WatchedRun(dir, 0);
  {
    using _ = await lockFolder(dir);
    await becomes(run, "finishing");
    writeFileSync(join(dir, "summary.json"), "{}");
    expect(run.info().state).toBe("done");
    utimesSync(join(dir, "summary.json"), 1, 1);
    expect(run.info().state).toBe("finishing");
  }
  await becomes(run, "done");
});

test("what was written while nobody looked counts by its own time", () => {
  const dir = smallRun(1);
  const run = new WatchedRun(dir, 0);
  writeStatus(dir);
  run.look();
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    vi.setSystemTime(Date.now() + 100_000);
    writeStatus(dir, { writtenMs: Date.now() - 20_000 });
    utimesSync(join(dir, "line.json"), 1, 1);
    run.look();
    expect(run.info().state).toBe("silent");
  } finally {
    vi.useRealTimers();
  }
});

test("a run of an older version: done by its summary, checkpoints by their folders", () => {
  const dir = smallRun(1);
  writeFileSync(join(dir, "summary.json"), "{}");
  for (const name of ["step-000004", "step-000008.tmp-3", "warm-start"])
    mkdirSync(join(dir, "checkpoints", name), { recursive: true });
  const run = new WatchedRun(dir, 0);
  run.look();
  expect(run.info()).toMatchObject({ state: "done", marks: [{ kind: "checkpoint", step: 4 }] });
});

test("a folder in which nothing is yet is waited for", () => {
  const dir = join(temporary(), "later");
  const run = new WatchedRun(dir, 0);
  run.look();
  expect(run.info()).toMatchObject({ name: "later", rows: 0, state: "unfinished" });
});

test("a run.json that is none leaves the folder's name", () => {
  const dir = smallRun(1);
  rmSync(join(dir, "run.json"));
  writeFileSync(join(dir, "run.json"), "{");
  utimesSync(join(dir, "run.json"), 1, 1);
  const run = new WatchedRun(dir, 0);
  run.look();
  expect(run.info().rows).toBe(1);
});
