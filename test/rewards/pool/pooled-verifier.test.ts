// Tests the verdicts that a verifier derives from the ends of its jobs, which this test invents; pool.test.ts uses real
// processes.
import { expect, test } from "vitest";
import type { VerifierLimits } from "../../../lib/domains/verifier.ts";
import {
  PooledVerifier,
  type VerificationRequest,
  type Workers,
} from "../../../lib/rewards/pool/pooled-verifier.ts";
import type { JobEnd, VerificationJob } from "../../../lib/rewards/pool/verification-job.ts";

const correct = { status: "correct", score: 1, reason: "" } as const;
const unscored = { status: "unscored", cause: "it threw" } as const;
const requests = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    problem: { reference: i },
    text: `t${i}`,
    finish: "stop",
  })) as unknown as VerificationRequest[];
const done = (job: VerificationJob, verdict: unknown = correct, limits?: VerifierLimits) =>
  ({
    kind: "done",
    outcomes: job.members.map(() => ({ verdict, microseconds: 10 })),
    limits,
  }) as unknown as JobEnd;
const lost = (kind: "expired" | "exhausted" | "lost", phase: string, member?: number) =>
  ({ kind, phase, member, elapsedMs: 30, cause: "signal 9" }) as unknown as JobEnd;

/** Answers each job with the next of `ends`, and repeats the last one. */
function pooled(ends: ((job: VerificationJob) => JobEnd)[], options: object = {}) {
  const jobs: VerificationJob[] = [];
  const heaps: number[] = [];
  const workers: Workers = {
    count: 2,
    loadTimeoutMs: 50,
    variables: [],
    abandoned: false,
    run: async (heapMb, job) => {
      jobs.push(job);
      heaps.push(heapMb);
      return (ends[jobs.length - 1] ?? ends.at(-1)!)(job);
    },
  };
  const defaults = { timeoutMs: 20, heapMb: 64 };
  return { jobs, heaps, workers, verifier: new PooledVerifier({ name: "v", defaults, ...options }, workers) };
}

test("completions go out 32 at a time while nobody knows how long one takes, and verdicts come in their order", async () => {
  const { jobs, verifier } = pooled([
    (job) => done(job, { ...correct, reason: String(job.members[0]!.reference) }),
  ]);
  const verdicts = await verifier.judge(requests(70));
  expect(jobs.map(({ members }) => members.length)).toEqual([32, 32, 6]);
  expect(verdicts.map((v) => (v.status === "unscored" ? "" : v.reason))).toEqual([
    ...Array(32).fill("0"),
    ...Array(32).fill("32"),
    ...Array(6).fill("64"),
  ]);
});

test("once the first are judged, messages are as long as they took", async () => {
  const { jobs, verifier } = pooled([(job) => done(job)]);
  await verifier.judge(requests(1));
  verifier.meter.recordCall(990); // 10 calls were recorded before: half a millisecond each
  await verifier.judge(requests(90));
  expect(jobs.map(({ members }) => members.length)).toEqual([1, 40, 40, 10]);
});

test("one that hangs scores 0 at once, the rest of its message is judged again", async () => {
  const { jobs, verifier } = pooled([() => lost("expired", "verifying", 1), done]);
  const verdicts = await verifier.judge(requests(3));
  expect(verdicts.map(({ status }) => status)).toEqual(["correct", "wrong", "correct"]);
  expect(verdicts[1]).toMatchObject({ reason: "verification took over 20 ms" });
  expect(jobs.map(({ members }) => members.map(({ reference }) => reference))).toEqual([
    [0, 1, 2],
    [0, 2],
  ]);
  expect(verifier.meter.snapshot()).toMatchObject({ timeouts: 1, crashes: 0, retries: 0, overrunMs: 10 });
});

test("full memory scores 0 the second time, a lost process never", async () => {
  const full = pooled([() => lost("exhausted", "verifying", 0)]);
  expect(await full.verifier.judge(requests(1))).toMatchObject([
    { status: "wrong", reason: "verification took over 64 MiB" },
  ]);
  expect(full.jobs).toHaveLength(2);
  const gone = pooled([() => lost("lost", "verifying", 0)]);
  expect(await gone.verifier.judge(requests(1))).toEqual([
    { status: "unscored", cause: "worker lost: signal 9" },
  ]);
  expect(gone.verifier.meter.snapshot()).toMatchObject({ crashes: 2, retries: 1, unscored: 1 });
});

test("an unscored completion is judged once more, alone", async () => {
  const { jobs, verifier } = pooled([
    (job) =>
      ({
        ...done(job),
        outcomes: [correct, unscored].map((verdict) => ({ verdict, microseconds: 1 })),
      }) as JobEnd,
    done,
  ]);
  expect((await verifier.judge(requests(2))).map(({ status }) => status)).toEqual(["correct", "correct"]);
  expect(jobs[1]!.members.map(({ reference }) => reference)).toEqual([1]);
});

test("a user's module is asked for its limits first; what the pool was given is stronger", async () => {
  const stated = { timeoutMs: 70, heapMb: 128 };
  const { jobs, heaps, verifier } = pooled([(job) => done(job, correct, stated)], {
    moduleUrl: "file:///v.js",
    overrides: { timeoutMs: 40 },
  });
  await verifier.judge(requests(1));
  await verifier.judge(requests(1));
  expect(jobs.map(({ members, timeoutMs }) => [members.length, timeoutMs])).toEqual([
    [0, 40],
    [1, 40],
    [1, 40],
  ]);
  expect(heaps).toEqual([64, 128, 128]);
});

test("a module that never loads is given up after two attempts", async () => {
  const { jobs, verifier } = pooled([() => lost("expired", "loading")]);
  await expect(verifier.judge(requests(1))).rejects.toThrow('verifier "v" did not load in 50 ms, 2 times');
  expect(jobs).toHaveLength(2);
});

test("nothing is sent for a pool that was abandoned", async () => {
  const { jobs, verifier, workers } = pooled([done]);
  Object.assign(workers, { abandoned: true });
  await expect(verifier.judge(requests(1))).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  expect(jobs).toEqual([]);
});
