import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockFolder } from "../../lib/shared/files/folder-lock.ts";
import { isDone } from "../../lib/sweeps/job-states.ts";
import type { Job } from "../../lib/sweeps/plan.ts";
import { logTail, progressIn, runProcess } from "../../lib/sweeps/process.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const FAKE = [process.execPath, join(import.meta.dirname, "fake-hone.mjs")];
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-sweep-process-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const jobOf = (name: string, needs?: string): Job => ({
  id: `runs/${name}`,
  cell: name,
  seed: 5,
  recipe: smallRecipe({}, { name, seed: 5 }),
  needs,
});

function run(
  job: Job,
  { signal = new AbortController().signal, threads }: { signal?: AbortSignal; threads?: number } = {},
) {
  return runProcess(job, () => isDone(join(dir, job.id)), { dir, command: FAKE, threads, signal });
}

const calls = (id: string): unknown => JSON.parse(readFileSync(join(dir, id, "calls.json"), "utf8"));

test("a run gets its recipe, its folder, the warm start that it needs and its share of the threads", async () => {
  expect(await run(jobOf("fine", "starts/a/seed-5"), { threads: 3 })).toEqual({ state: "done" });
  expect(calls("runs/fine")).toMatchObject({
    verb: "run",
    seed: 5,
    steps: 6,
    resume: true,
    threads: "3",
    startFrom: join(dir, "starts/a/seed-5/checkpoints/warm-start"),
  });
  expect(readFileSync(join(dir, "runs/fine.log"), "utf8")).toContain("step=3 score=0.5");
});

test("a finished run is not run again", async () => {
  await run(jobOf("fine"));
  const before = calls("runs/fine");
  expect(await run(jobOf("fine"))).toEqual({ state: "done" });
  expect(calls("runs/fine")).toEqual(before);
});

test.each([
  ["fails", "HONE_ERR_DATA  no rows"],
  ["dies", "killed by SIGKILL"],
])("one that %s has failed, with the tail of its log", async (name, error) => {
  expect(await run(jobOf(name))).toEqual({ state: "failed", error });
});

test("one that trained nothing is finished all the same; one that cannot begin has failed", async () => {
  expect(await run(jobOf("trains nothing"))).toEqual({ state: "done" });
  const options = { dir, command: ["/nowhere/node"], signal: new AbortController().signal };
  expect(await runProcess(jobOf("fine"), () => false, options)).toMatchObject({
    state: "failed",
    error: expect.stringContaining("/nowhere/node"),
  });
});

test("told to stop while it looks whether the folder is free, it begins nothing", async () => {
  const controller = new AbortController();
  const ended = run(jobOf("lingers"), { signal: controller.signal });
  controller.abort();
  expect(await ended).toEqual({ state: "stopped" });
  expect(existsSync(join(dir, "runs/lingers.log"))).toBe(false);
});

test("told to stop, it tells the run, which saves", async () => {
  const controller = new AbortController();
  const ended = run(jobOf("lingers"), { signal: controller.signal });
  while (
    !existsSync(join(dir, "runs/lingers.log")) ||
    !readFileSync(join(dir, "runs/lingers.log"), "utf8").includes("step=3")
  )
    await sleep(20);
  controller.abort();
  expect(await ended).toEqual({ state: "stopped" });
  expect(readFileSync(join(dir, "runs/lingers/summary.json"), "utf8")).toBe('{"state":"stopped"}');
});

test("a folder that another process still has is waited for", async () => {
  const lock = await lockFolder(join(dir, "runs/fine"));
  const ended = run(jobOf("fine"));
  await sleep(600);
  expect(existsSync(join(dir, "runs/fine/calls.json"))).toBe(false);
  lock[Symbol.dispose]();
  expect(await ended).toEqual({ state: "done" });
  const controller = new AbortController();
  using _again = await lockFolder(join(dir, "runs/slow"));
  const stopped = run(jobOf("slow"), { signal: controller.signal });
  controller.abort();
  expect(await stopped).toEqual({ state: "stopped" });
});

test.each([
  ['phase="warm start" total=900\nphase="warm start" done=40 total=900 loss 0.4\n', "warm start 40"],
  ['phase="training" total=9\n', "training"],
  ["step=1 a=2\nstep=12 a=2\nwarning: x\n", "step 12"],
  ["nothing\n", undefined],
])("progress is read from a log's end: %j", (text, said) => {
  mkdirSync(join(dir, "x"));
  const log = join(dir, "x", "log");
  writeFileSync(log, `step=1 ${"x".repeat(20_000)}\n${text}`);
  expect(progressIn(log)).toBe(said);
  expect(progressIn(join(dir, "nowhere"))).toBeUndefined();
  expect([logTail(log), logTail(join(dir, "nowhere"))]).toEqual([text.trim().split("\n").at(-1), undefined]);
});
