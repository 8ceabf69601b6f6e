import { expect, test } from "vitest";
import type { FinishReason } from "../../lib/records.ts";
import { JobProgress, type VerificationJob } from "../../lib/rewards/verification-job.ts";
import verifyJob from "../../lib/rewards/verifier-worker.ts";

// The worker's function on this thread; what only a thread of its own can show is in pool.test.ts.

const fixture = (name: string) => new URL(`../fixtures/verifiers/${name}`, import.meta.url).href;
const member = (text: string, reference: unknown = "ok", finish: FinishReason = "eos") => ({
  reference,
  text,
  finish,
});

function job(members: VerificationJob["members"], change: Partial<VerificationJob> = {}): VerificationJob {
  const progress = new JobProgress().buffer;
  return { verifier: "obedient", moduleUrl: fixture("obedient.ts"), members, progress, ...change };
}
const verdicts = async (asked: VerificationJob) => (await verifyJob(asked)).map(({ verdict }) => verdict);

test("members are judged in order, each timed, one failure sparing the others", async () => {
  const outcomes = await verifyJob(
    job([member("ok"), member("throw"), member("no"), member("ok", "ok", "length")]),
  );
  expect(outcomes.map(({ verdict }) => verdict.status)).toEqual(["correct", "unscored", "wrong", "wrong"]);
  expect(outcomes.every(({ microseconds }) => microseconds >= 0)).toBe(true);
});

test("the shared progress ends at the last member", async () => {
  const progress = new JobProgress();
  await verifyJob(job([member("ok"), member("ok")], { progress: progress.buffer }));
  expect(progress.member).toBe(1);
});

test("each distinct reference is parsed, and refused, on its own", async () => {
  expect(await verdicts(job([member("a", "a"), member("a", 5), member("b", "b")]))).toMatchObject([
    { status: "correct" },
    { status: "unscored", cause: "verifier threw: reference must be a string" },
    { status: "correct" },
  ]);
});

test.each([
  ["nonsense", "the verifier returned status correct with score 0.5"],
  ["lenient", "the verifier returned status wrong with score 0.5"],
  ["nan", "the verifier returned status partial with score NaN"],
  ["text", "the verifier returned status correct with score 1"],
  ["nothing", "the verifier returned no verdict"],
])("a verdict that is %s is not passed on", async (command, cause) => {
  expect(await verdicts(job([member(command)]))).toEqual([{ status: "unscored", cause }]);
});

test("a reason is kept short, and none is an empty one", async () => {
  const reasons = (await verdicts(job([member("chatter"), member("mute")]))).map(
    (v) => "reason" in v && v.reason,
  );
  expect(reasons).toEqual(["y".repeat(500), ""]);
});

test("a built-in verifier is found by name; an unknown name and a broken module are causes for every member", async () => {
  const builtIn = { verifier: "truth-table", progress: new JobProgress().buffer };
  const { verdict } = (await verifyJob({ ...builtIn, members: [member("</think>01", { table: "01" })] }))[0]!;
  expect(verdict.status).toBe("correct");
  const members = [member("ok"), member("ok")];
  const unknown = { status: "unscored", cause: 'verifier did not load: no verifier is called "poetry"' };
  expect(await verdicts({ verifier: "poetry", members, progress: builtIn.progress })).toEqual([
    unknown,
    unknown,
  ]);
  const broken = { status: "unscored", cause: "verifier did not load: broken on import" };
  expect(await verdicts(job(members, { moduleUrl: fixture("broken.mjs") }))).toEqual([broken, broken]);
});
