import fc from "fast-check";
import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { NO_STATS } from "../../lib/fleet/membership.ts";
import {
  type Control,
  decodeAnswer,
  decodeControl,
  decodeEnd,
  decodeJob,
  decodeRequest,
  encodeAnswer,
  encodeControl,
  encodeEnd,
  encodeJob,
  encodeRequest,
  faultOf,
  faultText,
  isOfTheWay,
} from "../../lib/fleet/messages.ts";
import { decodeOutcome, encodeOutcome } from "../../lib/fleet/outcomes.ts";
import type { GenerationRequest } from "../../lib/native/face.ts";
import type { Completion } from "../../lib/native/generations.ts";
import type { JobEnd, VerificationJob } from "../../lib/rewards/index.ts";

const request: GenerationRequest = {
  id: 9,
  prompt: Int32Array.of(3, 1, 4),
  count: 2,
  problem: 77,
  firstAttempt: 1,
  seeds: [2n ** 63n, 5n],
  sampling: { temperature: 0.7, topP: 0.9 },
  maxTokens: 12,
  stopIds: [2],
  stopStrings: ["end"],
};

test("a request is read as it was written, 64-bit seeds included", () => {
  expect(decodeRequest(encodeRequest({ number: 4, version: 6, request }))).toEqual({
    number: 4,
    version: 6,
    request,
  });
});

test("a plan of versions is refused: no actor could keep to it", () => {
  const planned = { ...request, plan: [[{ fromToken: 0, version: 1 }]] };
  expect(() => encodeRequest({ number: 0, version: 0, request: planned })).toThrow(/plan of versions/);
});

const completion = (attempt: number, n: number, finish: Completion["finish"]): Completion => ({
  request: 0,
  attempt,
  tokens: Int32Array.from({ length: n }, (_, i) => 10 * attempt + i),
  logprobs: Float32Array.from({ length: n }, (_, i) => -i / 8),
  entropies: new Float32Array(n).fill(0.5),
  versions: Uint32Array.from({ length: n }, (_, i) => 3 + i),
  oldestKvVersions: new Uint32Array(n).fill(3),
  finish,
});

test("an outcome is read as an engine would have said it", () => {
  const by = { member: "actor.1#2", stats: { ...NO_STATS, steps: 5 } };
  const completions = [completion(1, 2, "eos"), completion(0, 3, "length"), completion(2, 0, "abort")];
  const read = decodeOutcome(encodeOutcome({ number: 8, by, completions }));
  if (!("message" in read)) throw new Error("no message");
  expect(read).toMatchObject({ number: 8, by });
  expect(read.message).toEqual({
    request: new Float64Array(5),
    attempt: Int32Array.of(1, 1, 0, 0, 0),
    token: Int32Array.of(10, 11, 0, 1, 2),
    logprob: Float32Array.of(-0, -1 / 8, -0, -1 / 8, -2 / 8),
    entropy: new Float32Array(5).fill(0.5),
    version: Uint32Array.of(3, 4, 3, 4, 5),
    oldestKv: new Uint32Array(5).fill(3),
    finish: Uint8Array.of(0, 1, 0, 0, 3),
    endedRequest: new Float64Array(1),
    endedAttempt: Int32Array.of(2),
    endedFinish: Uint8Array.of(4),
  });
});

test("outcomes without completions keep what they say", () => {
  const by = { member: "actor.0#1", stats: NO_STATS };
  const fault = { code: "HONE_ERR_CONFIG", message: "too long", hint: "less" } as const;
  expect(decodeOutcome(encodeOutcome({ number: 1, by, fault }))).toEqual({ number: 1, by, fault });
  expect(decodeOutcome(encodeOutcome({ number: 1, by, poison: true }))).toEqual({
    number: 1,
    by,
    poison: true,
  });
});

test("what the coordinator says is read as it was said, bytes of tokens included", () => {
  const options = {
    maxRunning: 4,
    pageTokens: 16,
    pages: 8,
    maxContext: 64,
    stepTokens: 32,
    weightStorage: "f32",
    runSeed: 2n ** 60n,
  } as const;
  const tokenBytes = [Uint8Array.of(1, 2), Uint8Array.of(), Uint8Array.of(255)];
  const controls: Control[] = [
    { kind: "open", engine: "engine-0", config: "{}", options },
    { kind: "open", engine: "engine-1", config: "{}", options: { ...options, tokenBytes } },
    { kind: "close", engine: "engine-0" },
    { kind: "abort", engine: "engine-0", request: 3 },
    {
      kind: "update",
      update: 1,
      engine: "engine-0",
      version: 2,
      way: "communicator",
      withinMs: 1000,
      groups: [{ number: 3, sender: "trainer.1#2", members: ["actor.0#1"] }],
    },
    { kind: "commit", update: 1, engine: "engine-0", version: 2, members: [] },
  ];
  for (const control of controls) expect(decodeControl(encodeControl(control))).toEqual(control);
});

test("an answer keeps its fault", () => {
  for (const fault of [undefined, { code: "HONE_ERR_FORMAT", message: "damaged" } as const]) {
    const answer = { update: 3, member: "actor.0#1", ...(fault && { fault }) };
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
  }
});

test("a message that is damaged, or of another kind, is refused", () => {
  const bytes = encodeRequest({ number: 4, version: 6, request });
  expect(() => decodeOutcome(bytes)).toThrow(/kind "request" where "outcome"/);
  bytes[bytes.length - 1]! ^= 1;
  expect(() => decodeRequest(bytes)).toThrow(HoneError);
});

test("an error of another process says whose it was, with its code and hint", () => {
  const there = new HoneError("HONE_ERR_OUT_OF_MEMORY", "no room for pages", { hint: "engine.pages" });
  const here = faultOf(JSON.parse(JSON.stringify(faultText(there))), "actor.1#2");
  expect(here).toMatchObject({
    code: "HONE_ERR_OUT_OF_MEMORY",
    message: "actor.1#2: no room for pages",
    hint: "engine.pages",
    details: { where: "actor.1#2" },
  });
});

test("an error of any other kind is an internal one", () => {
  expect(faultText(new TypeError("x is not a function"))).toEqual({
    code: "HONE_ERR_INTERNAL",
    message: "x is not a function",
  });
});

test.each([
  ["HONE_ERR_COLLECTIVE", true],
  ["HONE_ERR_ABORTED", true],
  ["HONE_ERR_FORMAT", false],
  ["HONE_ERR_STATE", false],
] as const)("%s is of the way: %s", (code, is) => expect(isOfTheWay(code)).toBe(is));

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
  const texts = fc.string({ unit: "binary" }).map((text) => `${text}\ud800`); // ends with a lone surrogate
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
