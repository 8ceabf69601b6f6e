import { expect, test } from "vitest";
import { readRun } from "../../lib/runs/read-run.ts";
import { lockFolder } from "../../lib/shared/files/folder-lock.ts";
import { scratch, table, type Written, writeRun } from "./folders.ts";

const END = '{"e":"end","s":3,"v":3,"w":"x"}\n';
const step = '{"e":"step","s":2,"v":3,"k":[]}\n';

test.each<[string, Written, string]>([
  ["a session that came to its end", { state: "done" }, "finished"],
  ["one that was stopped", { state: "stopped" }, "stopped"],
  ["one that failed", { state: "failed" }, "failed"],
  ["a kill before any summary", {}, "killed"],
  ["a kill in a session after a stop", { state: "stopped", steps: 5, summarySteps: 3, ofSteps: 9 }, "killed"],
  ["createRun, to the last step", { events: step + END }, "finished"],
  ["createRun, stopped", { events: step + END, ofSteps: 9 }, "stopped"],
  ["createRun, killed", { events: step }, "killed"],
  ["a torn event", { events: `${END}{"e":"st` }, "killed"],
])("%s", async (_, written, state) => {
  expect(await readRun(writeRun(scratch(), written))).toMatchObject({ state, name: "demo", seed: 0 });
});

test("a folder that somebody holds is running, whatever its files say, and no longer when it is let go", async () => {
  const dir = writeRun(scratch(), { state: "done", after: table(0.5, 0.7) });
  const lock = await lockFolder(dir);
  expect(await readRun(dir)).toMatchObject({ state: "running" });
  lock[Symbol.dispose]();
  expect(await readRun(dir)).toMatchObject({ state: "finished" });
});

test("steps, the last step's score, and what was held out", async () => {
  const dir = writeRun(scratch(), { seed: 4, steps: 7, ofSteps: 9, state: "done", after: table(0.5, 0.7) });
  const run = await readRun(dir);
  expect(run).toMatchObject({ seed: 4, steps: 7, ofSteps: 9, score: 0.7, dir });
  expect([run.before!.mean.score, run.after!.mean.score]).toEqual([0.2, 0.6]);
});

test("a run that has not begun to train has no step", async () => {
  expect(await readRun(writeRun(scratch(), { steps: 0 }))).toMatchObject({
    steps: 0,
    score: undefined,
    state: "killed",
  });
});
