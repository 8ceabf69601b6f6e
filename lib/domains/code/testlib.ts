import { HoneError } from "../../errors.ts";
import { printable } from "../../sandbox/harness.ts";
import type { NativeProgram, NativeRun } from "../../sandbox/native-program.ts";
import type { PythonLimits } from "../../sandbox/python-sandbox.ts";
import type { OutputJudge } from "./judging.ts";
import type { CodeTest } from "./test-cases.ts";

/** Exit statuses of a checker. Source: MikeMirzayanov/testlib, testlib.h. */
const OK = 0;
/** Exit statuses for a wrong answer, a presentation error, text after the answer, and an unexpected end. */
const WRONG: ReadonlySet<number> = new Set([1, 2, 4, 8]);
const FAILED = 3;
const POINTS = 7;

const LIMITS: PythonLimits = { wallMs: 10_000, memoryBytes: 2 ** 30, outputBytes: 1 << 20 };

/** Runs a checker with the files that it judges. */
export type RunChecker = (files: NativeProgram["files"], limits: PythonLimits) => Promise<NativeRun>;

/**
 * Judges output by a checker's exit status. A checker that crashes or is too slow is run on the expected answer: if
 * it accepts the answer, the output is at fault, else the checker is. Rejects with HONE_ERR_VERIFIER for a fault of
 * the checker.
 * @param open compiles the checker; called when there is output to judge
 */
export function outputJudge(tests: readonly CodeTest[], open: () => Promise<RunChecker>): OutputJudge {
  let opened: Promise<RunChecker> | undefined;
  return async (output, index) => {
    const test = tests[index]!;
    if (test.kind === "call") throw new TypeError("a checker judges printed output");
    opened ??= open();
    const check = await opened;
    const checked = (output: string) =>
      check(
        [
          ["input", test.stdin],
          ["output", output],
          ["answer", test.expected],
        ],
        LIMITS,
      );
    return judged(await checked(output), () => checked(test.expected));
  };
}

async function judged(
  run: NativeRun,
  onAnswer: () => Promise<NativeRun>,
): Promise<{ readonly share: number; readonly reason: string }> {
  const said = printable(run.stderr) || `exit status ${run.status}`;
  if (run.end === "exited") {
    if (run.status === OK) return { share: 1, reason: "" };
    if (WRONG.has(run.status)) return { share: 0, reason: `the checker says: ${said}` };
    if (run.status === FAILED) throw fault(`says that it failed: ${said}`);
    if (run.status === POINTS) return { share: pointsIn(run.stderr), reason: `the checker says: ${said}` };
  }
  const end =
    run.end === "exited" ? `ended with status ${run.status}` : `was ${run.end.replaceAll("-", " ")}`;
  const answer = await onAnswer();
  if (answer.end !== "exited" || answer.status !== OK)
    throw fault(`${end}, and does not take the answer: ${said}`);
  return { share: 0, reason: `the checker ${end} on what it prints` };
}

/**
 * Reads points from a message such as "points 0.25 half of it". testlib leaves the scale to the problem; here points
 * must be in [0, 1], as rewards are.
 */
function pointsIn(stderr: string): number {
  const points = Number(/^points\s+(\S+)/.exec(stderr)?.[1] ?? Number.NaN);
  if (points >= 0 && points <= 1) return points;
  throw fault(`gives points outside 0 to 1: ${printable(stderr)}`);
}

const fault = (what: string): HoneError =>
  new HoneError("HONE_ERR_VERIFIER", `the problem's checker ${what}`);
