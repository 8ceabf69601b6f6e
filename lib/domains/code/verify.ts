import type { PythonValue } from "../../python/value.ts";
import type { ScoredVerdict } from "../../records.ts";
import { pythonSandbox } from "../../sandbox/choose.ts";
import { dumps } from "../../sandbox/marshal.ts";
import {
  type PythonLimits,
  type PythonProgram,
  type PythonRun,
  type PythonSandbox,
  STARVED_TIMES,
} from "../../sandbox/python-sandbox.ts";
import { correct, noAnswer, unparsable, type Verifier, wrong } from "../verifier.ts";
import type { Compat } from "../verify-case.ts";
import { outputsMatch, valuesMatch } from "./compare.ts";
import { extractCode } from "./extract.ts";
import { type CodeReference, type CodeTest, MAX_TOTAL_MS, parseCodeReference } from "./test-cases.ts";
import { AT_ONCE, type Outcome, runTests } from "./test-runner.ts";

const MAX_PROGRAM_CHARS = 1 << 20;
/** Output allowed beyond twice what is expected. */
const SPARE_OUTPUT_BYTES = 1 << 20;

/**
 * A Python program: all tests of the problem must pass, by what it prints or by what its function returns. The last
 * fenced block of the completion is run, once per test, each in a sandboxed process of its own; what comes out is
 * compared out here, so that a program can pass only by having the answers.
 * The reference is { input_output, fn_name?, compat?, limits? } as parseCodeReference reads it; strict unless said.
 * Wrong where a test fails, raises, is too slow or prints while a function is called; unparsable where the program does
 * not compile, and in reference mode where it is too slow; no_answer without a program. A sandbox that does not work
 * throws. The reference runs every test, because its verdict depends on all; strict stops at the first that fails.
 * Source: PipelineRL, domains/coding, for rows of TACO and APPS.
 */
export function codeVerifier(sandbox: () => Promise<PythonSandbox>): Verifier<CodeReference> {
  return {
    name: "code",
    version: 2,
    // The sandbox keeps the time; this is for a thread that is stuck, however busy the machine.
    limits: { timeoutMs: STARVED_TIMES * MAX_TOTAL_MS + 60_000 },
    parseReference: parseCodeReference,

    async prepare() {
      await sandbox();
    },

    async verify({ text }, reference) {
      const source = extractCode(text, reference.compat);
      if (source === undefined) return noAnswer("no fenced block of Python");
      if (source.length > MAX_PROGRAM_CHARS) return wrong(`program of ${source.length} characters`);
      return judge(source, reference, await sandbox());
    },
  };
}

export const code = codeVerifier(pythonSandbox);

interface TestOutcome extends Outcome {
  /** Why it did not pass. */
  readonly reason: string;
  readonly unparsable: boolean;
}

async function judge(
  source: string,
  reference: CodeReference,
  sandbox: PythonSandbox,
): Promise<ScoredVerdict> {
  const { tests, compat, functionName, totalMs, memoryBytes } = reference;
  let spentMs = 0;
  const outcomes = await runTests(tests.length, async (index, signal) => {
    const test = tests[index]!;
    const left = Math.ceil(totalMs - spentMs / AT_ONCE);
    if (left <= 0) return lost(`all tests together took over ${totalMs} ms`, compat === "reference");
    const wallMs = Math.min(reference.wallMs, left);
    const limits: PythonLimits = { wallMs, memoryBytes, outputBytes: outputBytes(test) };
    const run = await sandbox.run(programOf(source, test, functionName, compat), limits, signal);
    spentMs += run.spentMs;
    const outcome = outcomeOf(run, test, limits, compat);
    return compat === "strict" ? { ...outcome, end: !outcome.passed } : outcome;
  });
  const first = outcomes.find((outcome) => outcome.unparsable) ?? outcomes.find((outcome) => !outcome.passed);
  if (first === undefined) return correct(`${tests.length} of ${tests.length} tests pass`);
  const reason = `test ${outcomes.indexOf(first) + 1} of ${tests.length}: ${first.reason}`;
  return first.unparsable ? unparsable(reason) : wrong(reason);
}

function programOf(
  source: string,
  test: CodeTest,
  functionName: string | undefined,
  compat: Compat,
): PythonProgram {
  const dialect = compat === "strict" ? "script" : "guarded";
  if (test.kind === "script") return { source, stdin: test.stdin, dialect };
  return { source, stdin: "", dialect, call: { name: functionName!, args: test.args } };
}

function outputBytes(test: CodeTest): number {
  const { kind, expected } = test;
  return SPARE_OUTPUT_BYTES + 2 * (kind === "script" ? Buffer.byteLength(expected) : dumps(expected).length);
}

const PASSED: TestOutcome = { passed: true, end: false, reason: "", unparsable: false };
const lost = (reason: string, isUnparsable = false): TestOutcome => ({
  passed: false,
  end: isUnparsable,
  reason,
  unparsable: isUnparsable,
});

function outcomeOf(run: PythonRun, test: CodeTest, limits: PythonLimits, compat: Compat): TestOutcome {
  if (run.end === "too-slow") return lost(`over ${limits.wallMs} ms`, compat === "reference");
  if (run.end === "too-much-output") return lost(`wrote over ${limits.outputBytes} bytes`);
  if (run.end === "syntax") return lost(`does not compile: ${run.detail}`, true);
  const complaint = compat === "reference" ? complaintOf(run.stderr) : undefined;
  if (complaint !== undefined || run.end === "failed") {
    return lost(run.detail || "complains on standard error", complaint === "syntax");
  }
  return test.kind === "script" ? printed(run, test.expected) : returned(run, test.expected, compat);
}

const printed = (run: PythonRun, expected: string): TestOutcome =>
  outputsMatch(run.stdout, expected) ? PASSED : lost("prints something else");

function returned(run: PythonRun, expected: PythonValue, compat: Compat): TestOutcome {
  if (run.value === undefined) return lost(run.detail === "" ? "returns nothing" : `returns ${run.detail}`);
  if (run.stdout.trim() !== "") return lost("prints while it is called");
  return valuesMatch(run.value, expected, compat) ? PASSED : lost("returns something else");
}

/** The reference takes a word on standard error for a crash, and these two names for a program that does not compile. */
function complaintOf(stderr: string): "syntax" | "crash" | undefined {
  if (!/traceback|syntaxerror|indentationerror|exception/i.test(stderr)) return undefined;
  return /SyntaxError|IndentationError/.test(stderr) ? "syntax" : "crash";
}
