import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { JobProgress } from "../../../lib/rewards/pool/verification-job.ts";

// Mutants tried: the end is read from the process's present position, an idle process ages, the end is given to
// whatever job is last.

const folder = mkdtempSync(join(tmpdir(), "hone-progress-"));
let fd: number;
const open: number[] = [];
beforeEach(() => {
  fd = openSync(join(folder, `${open.length}`), "wx+");
  open.push(fd);
});
afterAll(() => {
  for (const one of open) closeSync(one);
  rmSync(folder, { recursive: true });
});

test("what one side writes the other reads, from the beginning on", () => {
  const [mine, theirs] = [new JobProgress(fd), new JobProgress(fd)];
  expect(mine.read()).toMatchObject({ phase: "idle", member: undefined, elapsedMs: 0 });
  theirs.begin("loading", 100);
  expect(mine.read()).toMatchObject({ phase: "loading", member: undefined });
  theirs.begin("verifying", 100, 7);
  const { phase, member, elapsedMs, leftMs } = mine.read();
  expect([phase, member]).toEqual(["verifying", 7]);
  expect(elapsedMs).toBeGreaterThanOrEqual(0);
  expect(elapsedMs + leftMs).toBeCloseTo(100, 3);
  theirs.take();
  theirs.begin("idle");
  expect(mine.read()).toEqual({
    job: 1,
    phase: "idle",
    member: undefined,
    elapsedMs: 0,
    leftMs: Number.POSITIVE_INFINITY,
  });
});

test("a process that waits for its first job has no limit, so that its watchdog polls at the usual interval", () => {
  expect(new JobProgress(fd).read().leftMs).toBe(Number.POSITIVE_INFINITY);
});

test("time passes for what has begun, on the clock of every process", async () => {
  const progress = new JobProgress(fd);
  progress.begin("reference", 5, 0);
  const before = progress.read().elapsedMs;
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(progress.read().elapsedMs - before).toBeGreaterThan(5);
  expect(progress.read().leftMs).toBeLessThan(0);
});

test("why a process ended itself stays with what it was at, though it moved on before it died", () => {
  const progress = new JobProgress(fd);
  progress.take();
  progress.begin("verifying", 100, 3);
  expect(progress.readEnd(1)).toMatchObject({ why: "unknown", phase: "verifying", member: 3 });
  progress.end("expired", { ...progress.read(), elapsedMs: 101 });
  progress.begin("verifying", 100, 4);
  expect(progress.readEnd(1)).toEqual({ why: "expired", phase: "verifying", member: 3, elapsedMs: 101 });
});

test("a process that was ended for a job which it had answered meanwhile was idle when it got the next", () => {
  const progress = new JobProgress(fd);
  progress.take();
  progress.begin("verifying", 100, 0);
  progress.end("expired", { ...progress.read(), elapsedMs: 101 });
  progress.begin("idle");
  expect(progress.readEnd(2)).toEqual({ why: "unknown", phase: "idle", member: undefined, elapsedMs: 0 });
  progress.take();
  progress.begin("verifying", 100, 0); // the ending of the job before was delayed
  expect(progress.readEnd(2)).toMatchObject({ why: "unknown", phase: "idle" });
});
