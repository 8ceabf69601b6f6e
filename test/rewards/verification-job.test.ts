import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { JobProgress } from "../../lib/rewards/verification-job.ts";

test("progress goes from queued through loading to the members, and both sides of the memory see it", () => {
  const pool = new JobProgress();
  const worker = new JobProgress(pool.buffer);
  expect([pool.member, pool.elapsedMs]).toEqual([undefined, 0]);
  worker.begin();
  expect(pool.member).toBeUndefined();
  expect(pool.elapsedMs).toBeGreaterThan(0);
  worker.begin(0);
  expect(pool.member).toBe(0);
  worker.begin(7);
  expect(pool.member).toBe(7);
});

test("time is counted from the beginning of the member, on a clock that threads share", async () => {
  const progress = new JobProgress();
  progress.begin(0);
  const before = progress.elapsedMs;
  const source =
    'require("node:worker_threads").parentPort.postMessage(Number(process.hrtime.bigint()) / 1e6)';
  const worker = new Worker(source, { eval: true });
  const there = await new Promise<number>((resolve) => worker.once("message", resolve));
  const here = Number(process.hrtime.bigint()) / 1e6;
  expect(here - there).toBeGreaterThanOrEqual(0);
  expect(progress.elapsedMs).toBeGreaterThanOrEqual(before + (here - there));
  const again = Number(process.hrtime.bigint()) / 1e6;
  progress.begin(1);
  const elapsed = progress.elapsedMs;
  expect(elapsed).toBeLessThanOrEqual(Number(process.hrtime.bigint()) / 1e6 - again);
  await worker.terminate();
});
