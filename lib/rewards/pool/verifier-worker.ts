/** A thread of the verifier pool: dispatches jobs to processes, off the training thread. */
import { isMainThread, workerData } from "node:worker_threads";
import type { JobEnd, VerificationJob } from "./verification-job.ts";
import { type DispatcherOptions, openDispatcher } from "./verifier-dispatcher.ts";

const dispatch = isMainThread ? undefined : openDispatcher(workerData as DispatcherOptions);

export default function verifyJob(job: VerificationJob): Promise<JobEnd> {
  return dispatch!(job);
}
