// Deliberate faults (mutants) that these tests detect: a failed checker scores 1 or 0, a crash always scores 0 or is
// always an outage, points above 1 count, the files are in another order, a checker killed by time is a wrong answer
// without a look at the answer.
import { describe, expect, test } from "vitest";
import { outputJudge, type RunChecker } from "../../../lib/domains/code/testlib.ts";
import type { NativeProgram, NativeRun } from "../../../lib/sandbox/native-program.ts";

const TESTS = [
  { kind: "script", stdin: "in", expected: "answer" },
  { kind: "script", stdin: "in 2", expected: "answer 2" },
] as const;

type End = Partial<NativeRun>;

/** A judge whose checker ends as given for the output "out", and as given for the answer itself. */
function judgeWith(onOutput: End, onAnswer: End = { status: 0 }) {
  const asked: NativeProgram["files"][] = [];
  let compilations = 0;
  const run: RunChecker = async (files) => {
    asked.push(files);
    const end = new Map(files).get("output") === "out" ? onOutput : onAnswer;
    return { end: "exited", status: 0, stderr: "", spentMs: 1, ...end };
  };
  const open = async () => {
    compilations += 1;
    return run;
  };
  return { judge: outputJudge(TESTS, open), asked, compilations: () => compilations };
}

test("a checker gets input, output and answer of the test in this order, and is compiled once", async () => {
  const { judge, asked, compilations } = judgeWith({});
  await judge("out", 1);
  await judge("out", 0);
  expect(asked).toEqual([
    [
      ["input", "in 2"],
      ["output", "out"],
      ["answer", "answer 2"],
    ],
    [
      ["input", "in"],
      ["output", "out"],
      ["answer", "answer"],
    ],
  ]);
  expect(compilations()).toBe(1);
});

test.each([
  [{ status: 0, stderr: "ok 3 numbers" }, 1, ""],
  [{ status: 1, stderr: "wrong answer expected 2" }, 0, "the checker says: wrong answer expected 2"],
  [{ status: 2, stderr: "wrong output format x\n" }, 0, "the checker says: wrong output format x"],
  [{ status: 4, stderr: "" }, 0, "the checker says: exit status 4"],
  [{ status: 8, stderr: "unexpected eof" }, 0, "the checker says: unexpected eof"],
  [{ status: 7, stderr: "points 0.25 a quarter" }, 0.25, "the checker says: points 0.25 a quarter"],
  [{ status: 7, stderr: "points 1" }, 1, "the checker says: points 1"],
])("%j is a share of %d", async (end, share, reason) => {
  expect(await judgeWith(end).judge("out", 0)).toEqual({ share, reason });
});

test.each([
  [{ status: 139 }, "the checker ended with status 139 on what it prints"],
  [{ status: 125 }, "the checker ended with status 125 on what it prints"],
  [{ end: "too-slow", status: 137 }, "the checker was too slow on what it prints"],
] as const)("%j on the output alone is the output's fault", async (end, reason) => {
  expect(await judgeWith(end).judge("out", 0)).toEqual({ share: 0, reason });
});

describe("what is the checker's fault is no verdict", () => {
  test.each([
    [{ status: 3, stderr: "FAIL bad answer file" }, {}, "says that it failed: FAIL bad answer file"],
    [{ status: 139 }, { status: 139 }, "ended with status 139, and does not take the answer"],
    [{ status: 139 }, { status: 1 }, "does not take the answer"],
    [{ end: "too-slow", status: 137 }, { end: "too-slow", status: 137 }, "was too slow"],
    [{ status: 7, stderr: "points 100" }, {}, "gives points outside 0 to 1: points 100"],
    [{ status: 7, stderr: "half" }, {}, "gives points outside 0 to 1: half"],
    [{ status: 7, stderr: "points -1" }, {}, "gives points outside 0 to 1"],
  ] as const)("%j, on the answer %j", async (onOutput, onAnswer, message) => {
    await expect(judgeWith(onOutput, onAnswer).judge("out", 0)).rejects.toMatchObject({
      code: "HONE_ERR_VERIFIER",
      message: expect.stringContaining(message),
    });
  });
});
