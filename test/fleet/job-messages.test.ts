import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeEnd, decodeJob, encodeEnd, encodeJob } from "../../lib/fleet/job-messages.ts";
import type { JobEnd, VerificationJob } from "../../lib/rewards/index.ts";

const LIMITS = { timeoutMs: 2000, loadTimeoutMs: 30_000 };
const jobOf = (references: readonly unknown[], text = "an answer"): VerificationJob => ({
  verifier: "math",
  domain: "math",
  members: references.map((reference) => ({ reference, text, finish: "eos" })),
  ...LIMITS,
});
const about = { number: 7, workers: 3, heapMb: 256 };
const sent = (job: VerificationJob) => decodeJob(encodeJob({ ...about, job }));

test("a job comes as it went, whatever JSON can say, and to the letter", () => {
  const plain = fc.jsonValue({ noUnicodeString: false }).filter((value) => !hasMinusZero(value));
  const texts = fc.string({ unit: "binary" }).map((text) => `${text}\ud800`); // and half of a pair
  fc.assert(
    fc.property(fc.array(plain, { maxLength: 4 }), texts, (references, text) => {
      const job = jobOf(references, text);
      expect(sent(job)).toEqual({ ...about, job });
    }),
  );
  const own = { ...jobOf([2 ** 60]), moduleUrl: "file:///srv/a.ts#b", isReward: true };
  expect(sent(own).job).toEqual(own);
  expect(sent(jobOf([])).job.members).toEqual([]);
  const sampled = jobOf([1, 2]);
  const members = sampled.members.map((member, i) => ({ ...member, ids: [i, 7], step: 3 }));
  const python = { command: ["python3"], file: "/srv/a.py", function: "f", maxSteps: 9, processes: 2 };
  expect(sent({ ...sampled, members, python }).job).toEqual({ ...sampled, members, python });
});

const hasMinusZero = (value: unknown): boolean =>
  Object.is(value, -0) ||
  (typeof value === "object" && value !== null && Object.values(value).some(hasMinusZero));

test("members of one problem have one reference there too, which is sent once", () => {
  const reference = { tests: "x".repeat(10_000) };
  const bytes = encodeJob({ ...about, job: jobOf([reference, reference, { tests: "y" }, reference]) });
  expect(bytes.length).toBeLessThan(11_000);
  const [first, second, third, fourth] = decodeJob(bytes).job.members.map((member) => member.reference);
  expect(second).toBe(first);
  expect(fourth).toBe(first);
  expect(third).toEqual({ tests: "y" });
});

test.each([
  ["a Map", new Map([[1, 2]])],
  ["a bigint", { deep: [1n] }],
  ["a date", new Date(0)],
  ["no number", Number.NaN],
  ["minus zero", { x: -0 }],
  ["nothing in a list", [undefined]],
  ["a hole", new Array(2)],
  ["a function", { toJSON: () => 1 }],
])("a reference with %s is refused by name, not changed", (_, reference) => {
  expect(() => encodeJob({ ...about, job: jobOf([reference]) })).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_UNSUPPORTED",
      message: expect.stringContaining('"math"'),
      hint: expect.stringContaining("hardware.processes.verifiers: 0"),
    }),
  );
});

test("a field that holds nothing is left out", () => {
  expect(sent(jobOf([{ a: 1, b: undefined }])).job.members[0]!.reference).toEqual({ a: 1 });
});

const ENDS: JobEnd[] = [
  {
    kind: "done",
    outcomes: [
      { verdict: { status: "correct", score: 1, reason: "", parts: { a: 1 } }, microseconds: 12.5 },
      { verdict: { status: "unscored", cause: "no \ud800 answer" }, microseconds: 3, isLate: true },
    ],
    limits: { timeoutMs: 5, heapMb: 64 },
  },
  { kind: "expired", phase: "verifying", member: 3, elapsedMs: 2001.25, cause: "SIGKILL" },
];
test.each(ENDS)("how it ended comes as it went: $kind", (end) => {
  expect(decodeEnd(encodeEnd({ number: 4, by: "verifier.0#2", end }))).toEqual({
    number: 4,
    by: "verifier.0#2",
    end,
  });
});

test("limits that were not stated, and a member that there is none of, are absent", () => {
  const done: JobEnd = { kind: "done", outcomes: [], limits: undefined };
  expect(decodeEnd(encodeEnd({ number: 0, by: "", end: done })).end).toEqual({ kind: "done", outcomes: [] });
  const lost: JobEnd = { kind: "lost", phase: "idle", member: undefined, elapsedMs: 0, cause: "gone" };
  const { end } = decodeEnd(encodeEnd({ number: 0, by: "", end: lost }));
  expect("member" in end ? end.member : undefined).toBeUndefined();
});

test("what is damaged, cut, or another message is refused", () => {
  const job = encodeJob({ ...about, job: jobOf(["2"]) });
  for (let at = 0; at < job.length; at++) {
    const damaged = Uint8Array.from(job);
    damaged[at]! ^= 1;
    expect(() => decodeJob(damaged)).toThrow(expect.objectContaining({ code: "HONE_ERR_FORMAT" }));
  }
  expect(() => decodeJob(job.subarray(0, -1))).toThrow(expect.objectContaining({ code: "HONE_ERR_FORMAT" }));
  expect(() => decodeEnd(job)).toThrow('kind "job" where "job-end" is expected');
});
