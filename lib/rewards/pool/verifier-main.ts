/** Main module of a verifier's process: judges the jobs of its channel. Its watchdog may end it at any moment. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { Worker } from "node:worker_threads";
import { ownThread } from "../../own-module.ts";
import { judgeJob } from "./judging.ts";
import { JobProgress, type VerificationJob } from "./verification-job.ts";
import { PROGRESS_FD, type WatchdogData } from "./verifier-watchdog.ts";

const workerData: WatchdogData = { memoryMb: Number(process.argv[2]) };
/** Started with the first job: until then nothing blocks this thread, and the process ends when its parent does. */
let watchdog: Promise<Worker> | undefined;

try {
  writeFileSync("/proc/self/oom_score_adj", "1000"); // makes the kernel kill this process before the trainer if memory runs out
} catch {
  // fails on systems other than Linux, or if it is not allowed
}

const progress = new JobProgress(PROGRESS_FD);
process.on("message", async (job: VerificationJob) => {
  watchdog ??= startWatchdog();
  (await watchdog).postMessage(progress.take());
  const result = await judgeJob(job, progress);
  progress.begin("idle");
  process.send!(result);
});

/** Resolves once the watchdog looks: loading it may need this thread, which a verifier may block. */
async function startWatchdog(): Promise<Worker> {
  const options = { workerData, resourceLimits: { maxOldGenerationSizeMb: 64 } };
  const thread = ownThread("verifier-watchdog", import.meta.url, options);
  await once(thread, "message");
  thread.unref();
  return thread;
}
