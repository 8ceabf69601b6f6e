import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { list, type PythonValue, str } from "../../python/value.ts";
import type { ScoredVerdict } from "../../records.ts";
import { pythonSandbox } from "../../sandbox/choose.ts";
import type { PythonLimits, PythonRun, PythonSandbox } from "../../sandbox/python-sandbox.ts";
import { checkedReference } from "../checked.ts";
import { correct, noAnswer, unparsable, type Verifier, wrong } from "../verifier.ts";
import { FACTS, MAX_TOTAL_MS } from "./facts.ts";
import { STRICT } from "./strict.ts";

const MAX_PROGRAM_CHARS = 1 << 20;
/** Most calls of the function by one test; the largest HumanEval tests make a hundred. */
const MOST_CALLS = 1000;
const LIMITS: PythonLimits = { wallMs: 10_000, memoryBytes: 2 ** 30, outputBytes: 4 << 20 };

const source = () => z.string().max(MAX_PROGRAM_CHARS);
const referenceSchema = z.object({
  entryPoint: z.string().regex(/^[A-Za-z_]\w*$/, "no name of a function"),
  prelude: source().default(""),
  tests: z.array(source()).min(1),
});
export type AssertionsReference = z.infer<typeof referenceSchema>;

/**
 * Runs a test in a process that holds none of the program: the function under test is a stand-in that returns the
 * results known so far, in order, and ends the run at the first call without a result. Seeds are fixed, so each run
 * makes the same calls.
 */
const TESTER = `
def hone_step(prelude, test, name, results):
    import random
    class Asked(BaseException):
        pass
    known = iter(results)
    def candidate(*args, **kwargs):
        for value in known:
            return value
        raise Asked(args, kwargs)
    scope = {"__name__": "tests"}
    random.seed(0)
    exec(prelude, scope)
    code = compile(test, "test.py", "exec", 0, 1)
    scope[name] = scope["candidate"] = candidate
    try:
        exec(code, scope)
    except Asked as asked:
        return ["call", list(asked.args[0]), asked.args[1]]
    except AssertionError:
        return ["failed", "an assertion fails"]
    except Exception as error:
        if not results:
            raise
        return ["failed", "raises " + type(error).__name__]
    return ["passed", ""]
`;

/** Calls the program's function in the program's own process. */
const CALLER = (entryPoint: string) =>
  `\n\ndef hone_call(args, kwargs):\n    return ${entryPoint}(*args, **kwargs)\n`;

/**
 * Judges a Python function by assertions, as in HumanEval and MBPP: all must hold. The program and the tests run in
 * separate processes: the program receives only the arguments of each call, the tests only the results, so that no
 * program sees the expected values or supplies its own equality. Its output and changes of its arguments are ignored.
 * The reference is { entryPoint, prelude?, tests }: the function's name, Python that precedes both program and tests
 * (imports, helpers), and Python that asserts, with the function under its name and as `candidate`. Wrong if a test
 * fails, or the program raises or is too slow; unparsable if it does not compile; no_answer without a program. Throws
 * if the sandbox does not work, or a test passes a value that cannot be serialised (a class instance).
 * Source: openai/human-eval, execution.py; google-research/mbpp.
 */
export function assertionsVerifier(sandbox: () => Promise<PythonSandbox>): Verifier<AssertionsReference> {
  return {
    ...FACTS.assertions,
    parseReference: (raw) =>
      checkedReference(referenceSchema, raw, "assertions", "{ entryPoint, prelude?, tests }"),

    async prepare() {
      await sandbox();
    },

    async verify({ text }, reference) {
      const program = STRICT.programIn(text);
      if (program === undefined) return noAnswer("no fenced block of Python");
      if (program.length > MAX_PROGRAM_CHARS) return wrong(`program of ${program.length} characters`);
      return judge(program, reference, await sandbox());
    },
  };
}

export const assertions = assertionsVerifier(pythonSandbox);

async function judge(
  program: string,
  { entryPoint, prelude, tests }: AssertionsReference,
  sandbox: PythonSandbox,
): Promise<ScoredVerdict> {
  const whole = `${prelude}\n\n${program}${CALLER(entryPoint)}`;
  let leftMs = MAX_TOTAL_MS;
  const run = async (program: string, name: string, args: readonly PythonValue[]): Promise<PythonRun> => {
    const limits = { ...LIMITS, wallMs: Math.max(1, Math.min(LIMITS.wallMs, leftMs)) };
    const done = await sandbox.run(
      { source: program, stdin: "", dialect: "script", call: { name, args } },
      limits,
    );
    leftMs -= done.spentMs;
    return done;
  };
  for (const [i, test] of tests.entries()) {
    const where = `test ${i + 1} of ${tests.length}`;
    const results: PythonValue[] = [];
    for (;;) {
      if (results.length > MOST_CALLS || leftMs <= 0) return wrong(`${where}: over ${MAX_TOTAL_MS} ms`);
      const asked = [str(prelude), str(test), str(entryPoint), list(results)];
      const step = readStep(await run(TESTER, "hone_step", asked), where);
      if (step.kind === "passed") break;
      if (step.kind === "failed") return wrong(`${where}: ${step.why}`);
      const result = await run(whole, "hone_call", step.args);
      const fault = faultOf(result);
      if (fault !== undefined)
        return fault.compiles ? wrong(`${where}: ${fault.why}`) : unparsable(fault.why);
      results.push(result.value!);
    }
  }
  return correct(`${tests.length} of ${tests.length} tests pass`);
}

type Step =
  | { readonly kind: "passed" }
  | { readonly kind: "failed"; readonly why: string }
  | { readonly kind: "call"; readonly args: readonly [PythonValue, PythonValue] };

/** Throws HONE_ERR_DATA if a test itself cannot run, which is not the program's fault. */
function readStep({ value, end, detail, stderr }: PythonRun, where: string): Step {
  const [kind, first, second] = value?.type === "list" ? value.items : [];
  const textOf = (item: PythonValue | undefined) => (item?.type === "str" ? item.value : "");
  if (textOf(kind) === "passed") return { kind: "passed" };
  if (textOf(kind) === "failed") return { kind: "failed", why: textOf(first) };
  if (textOf(kind) === "call" && first && second) return { kind: "call", args: [first, second] };
  const why = detail || stderr.trim().split("\n").at(-1) || end;
  throw new HoneError("HONE_ERR_DATA", `assertions: ${where} cannot be run: ${why}`);
}

/** Reason why a call returned no result. */
function faultOf({
  end,
  detail,
  value,
}: PythonRun): { readonly compiles: boolean; readonly why: string } | undefined {
  if (end === "syntax") return { compiles: false, why: `does not compile: ${detail}` };
  if (end === "too-slow") return { compiles: true, why: `over ${LIMITS.wallMs} ms` };
  if (end === "too-much-output") return { compiles: true, why: `wrote over ${LIMITS.outputBytes} bytes` };
  if (end === "failed") return { compiles: true, why: detail || "ends in failure" };
  return value === undefined ? { compiles: true, why: `returns ${detail || "nothing"}` } : undefined;
}
