import type { PythonValue } from "../../python/value.ts";
import type { ScoredVerdict } from "../../records.ts";
import { dumps } from "../../sandbox/marshal.ts";
import type { PythonLimits, PythonProgram, PythonRun, PythonSandbox } from "../../sandbox/python-sandbox.ts";
import { correct, fraction, unparsable } from "../verifier.ts";
import { outputsMatch } from "./compare.ts";
import type { CodeTest, CodeTests, TestReading } from "./test-cases.ts";
import { AT_ONCE, type Outcome, runTests } from "./test-runner.ts";

/** Output that a program may write beyond twice the expected output. */
const SPARE_OUTPUT_BYTES = 1 << 20;

/** Rules in which strict and reference judging differ. */
export interface Rules extends TestReading {
  /** Returns the program in a completion; undefined if there is none. */
  programIn(completion: string): string | undefined;
  /** How the sandbox runs the program. */
  readonly dialect: PythonProgram["dialect"];
  /** True if a call returned the expected value. */
  equals(actual: PythonValue, expected: PythonValue): boolean;
  /** The fault that standard error indicates for a program that exited normally; undefined if none. */
  complaintOf(stderr: string): "syntax" | "crash" | undefined;
  /** True if a program that is too slow is unparsable; otherwise it is wrong. */
  readonly tooSlowIsUnparsable: boolean;
  /** True if no test runs after a failed one; otherwise the verdict depends on all tests. */
  readonly endsAtFailure: boolean;
}

/** A problem's tests, how they are judged, and their limits. */
export interface CodeReference extends CodeTests {
  readonly rules: Rules;
  /** Wall time for one test and for all. */
  readonly wallMs: number;
  readonly totalMs: number;
  readonly memoryBytes: number;
  /** Judges what a program prints for the test of this index. Default: it must equal what is expected. */
  readonly judgeOutput?: OutputJudge;
}

/** Returns the share of the test that is solved: 1 passes. Rejects if the output cannot be judged. */
export type OutputJudge = (
  output: string,
  index: number,
) => Promise<{ readonly share: number; readonly reason: string }>;

interface TestOutcome extends Outcome {
  /** How much of the test is solved, in [0, 1]. */
  readonly share: number;
  /** Reason why the program did not pass. */
  readonly reason: string;
  readonly unparsable: boolean;
}

/** The verdict on a program: it is as right as its worst test. Rejects as the sandbox and the judge of its output do. */
export async function judgeProgram(
  source: string,
  reference: CodeReference,
  sandbox: PythonSandbox,
): Promise<ScoredVerdict> {
  const { tests, rules, totalMs, memoryBytes } = reference;
  let spentMs = 0;
  const outcomes = await runTests(tests.length, async (index, signal) => {
    const test = tests[index]!;
    const left = Math.ceil(totalMs - spentMs / AT_ONCE);
    if (left <= 0) return lost(`all tests together took over ${totalMs} ms`, rules.tooSlowIsUnparsable);
    const wallMs = Math.min(reference.wallMs, left);
    const limits: PythonLimits = { wallMs, memoryBytes, outputBytes: outputBytes(test) };
    const run = await sandbox.run(programOf(source, test, reference), limits, signal);
    spentMs += run.spentMs;
    const outcome = await outcomeOf(run, { index, limits }, reference);
    return rules.endsAtFailure ? { ...outcome, end: outcome.share === 0 } : outcome;
  });
  const worst =
    outcomes.find((outcome) => outcome.unparsable) ??
    outcomes.reduce((least, outcome) => (outcome.share < least.share ? outcome : least));
  if (worst.share === 1) return correct(`${tests.length} of ${tests.length} tests pass`);
  const reason = `test ${outcomes.indexOf(worst) + 1} of ${tests.length}: ${worst.reason}`;
  return worst.unparsable ? unparsable(reason) : fraction(worst.share, reason);
}

function programOf(source: string, test: CodeTest, { functionName, rules }: CodeReference): PythonProgram {
  const { dialect } = rules;
  if (test.kind === "script") return { source, stdin: test.stdin, dialect };
  return { source, stdin: "", dialect, call: { name: functionName!, args: test.args } };
}

function outputBytes(test: CodeTest): number {
  const { kind, expected } = test;
  return SPARE_OUTPUT_BYTES + 2 * (kind === "script" ? Buffer.byteLength(expected) : dumps(expected).length);
}

const PASSED: TestOutcome = { share: 1, end: false, reason: "", unparsable: false };
const lost = (reason: string, isUnparsable = false): TestOutcome => ({
  share: 0,
  end: isUnparsable,
  reason,
  unparsable: isUnparsable,
});

async function outcomeOf(
  run: PythonRun,
  { index, limits }: { readonly index: number; readonly limits: PythonLimits },
  { tests, rules, judgeOutput }: CodeReference,
): Promise<TestOutcome> {
  if (run.end === "too-slow") return lost(`over ${limits.wallMs} ms`, rules.tooSlowIsUnparsable);
  if (run.end === "too-much-output") return lost(`wrote over ${limits.outputBytes} bytes`);
  if (run.end === "syntax") return lost(`does not compile: ${run.detail}`, true);
  const complaint = rules.complaintOf(run.stderr);
  if (complaint !== undefined || run.end === "failed") {
    return lost(run.detail || "complains on standard error", complaint === "syntax");
  }
  const test = tests[index]!;
  if (test.kind === "call") return returned(run, test.expected, rules);
  if (judgeOutput === undefined) return printed(run, test.expected);
  return { ...PASSED, ...(await judgeOutput(run.stdout, index)) };
}

const printed = (run: PythonRun, expected: string): TestOutcome =>
  outputsMatch(run.stdout, expected) ? PASSED : lost("prints something else");

function returned(run: PythonRun, expected: PythonValue, rules: Rules): TestOutcome {
  if (run.value === undefined) return lost(run.detail === "" ? "returns nothing" : `returns ${run.detail}`);
  if (run.stdout.trim() !== "") return lost("prints while it is called");
  return rules.equals(run.value, expected) ? PASSED : lost("returns something else");
}
