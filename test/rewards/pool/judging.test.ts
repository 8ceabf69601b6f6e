import { expect, test } from "vitest";
import type { FinishReason } from "../../../lib/records.ts";
import { judgeJob } from "../../../lib/rewards/pool/judging.ts";
import type { VerificationJob } from "../../../lib/rewards/pool/verification-job.ts";

// Runs the code of a verifier process in this process; pool.test.ts tests what needs real processes. Deliberate
// faults (mutants) that these tests detect: a user's verifier may give `wrong` a partial score, a reference has no
// phase, all members share one phase.

const fixture = (name: string) => new URL(`../../fixtures/verifiers/${name}`, import.meta.url).href;
const member = (text: string, reference: unknown = "ok", finish: FinishReason = "eos") => ({
  reference,
  text,
  finish,
});

function job(members: VerificationJob["members"], change: Partial<VerificationJob> = {}): VerificationJob {
  const limits = { timeoutMs: 7, loadTimeoutMs: 9 };
  return { verifier: "obedient", moduleUrl: fixture("obedient.mjs"), members, ...limits, ...change };
}
const QUIET = { begin() {} };
const verdicts = async (asked: VerificationJob) =>
  (await judgeJob(asked, QUIET)).outcomes.map(({ verdict }) => verdict);

test("members are judged in order, each timed, one failure sparing the others", async () => {
  const asked = job([member("ok"), member("throw"), member("no"), member("ok", "ok", "length")]);
  const { outcomes } = await judgeJob(asked, QUIET);
  expect(outcomes.map(({ verdict }) => verdict.status)).toEqual(["correct", "unscored", "wrong", "wrong"]);
  expect(outcomes.every(({ microseconds }) => microseconds >= 0)).toBe(true);
});

test("each thing it turns to is told with its limit, before it begins", async () => {
  const told: unknown[] = [];
  await judgeJob(job([member("a", "a"), member("b", "a"), member("c", "c")]), {
    begin: (...phase) => told.push(phase),
  });
  expect(told).toEqual([
    ["loading", 9],
    ["reference", 7, 0],
    ["verifying", 7, 0],
    ["verifying", 7, 1],
    ["reference", 7, 2],
    ["verifying", 7, 2],
  ]);
});

test("each distinct reference is parsed, and refused, on its own", async () => {
  expect(await verdicts(job([member("a", "a"), member("a", 5), member("b", "b")]))).toMatchObject([
    { status: "correct" },
    {
      status: "unscored",
      cause: expect.stringMatching(
        /^verifier threw: TypeError: reference must be a string \(parseReference, .*obedient\.mjs:\d+:\d+\)$/,
      ),
    },
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
  const limits = { timeoutMs: 1000, loadTimeoutMs: 1000 };
  const members = [member("</think>01", { table: "01" })];
  expect(await verdicts({ verifier: "truth-table", domain: "logic", ...limits, members })).toMatchObject([
    { status: "correct" },
  ]);
  const two = [member("ok"), member("ok")];
  const unknown = { status: "unscored", cause: 'verifier did not load: there is no verifier named "poetry"' };
  expect(await verdicts({ verifier: "poetry", ...limits, members: two })).toEqual([unknown, unknown]);
  const cause = expect.stringMatching(
    /^verifier did not load: \/.*broken\.mjs cannot be imported: broken on import \(.*broken\.mjs:1:7\)$/,
  );
  const broken = { status: "unscored", cause };
  expect(await verdicts(job(two, { moduleUrl: fixture("broken.mjs") }))).toEqual([broken, broken]);
});

test("a built-in reference mode may credit a part of a wrong answer", async () => {
  const entry = {
    id: "parallel_0",
    function: [{ name: "f", parameters: { properties: { a: { type: "integer" } }, required: ["a"] } }],
    ground_truth: [{ f: { a: [1] } }, { f: { a: [2] } }],
  };
  const text = `<tool_calls>${JSON.stringify([1, 3].map((a) => ({ name: "f", arguments: { a } })))}</tool_calls>`;
  const members = [member(text, { entry, compat: "reference" }), member(text, { entry })];
  const asked = {
    verifier: "function-calling",
    domain: "function-calling",
    members,
    timeoutMs: 1000,
    loadTimeoutMs: 1000,
  };
  expect(await verdicts(asked)).toMatchObject([
    { status: "wrong", score: 0.5 },
    { status: "wrong", score: 0 },
  ]);
});
