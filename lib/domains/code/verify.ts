import { z } from "zod";
import type { ScoredVerdict } from "../../records.ts";
import { pythonSandbox } from "../../sandbox/choose.ts";
import type { PythonSandbox } from "../../sandbox/python-sandbox.ts";
import { checkedReference } from "../checked.ts";
import { compatField, type JudgedTwoWays } from "../compat.ts";
import { noAnswer, type Verifier, wrong } from "../verifier.ts";
import { FACTS, MAX_TOTAL_MS } from "./facts.ts";
import { type CodeReference, judgeProgram, type Rules } from "./judging.ts";
import { REFERENCE } from "./reference.ts";
import { STRICT } from "./strict.ts";
import { readTests } from "./test-cases.ts";

const RULES: JudgedTwoWays<Rules> = { reference: REFERENCE, strict: STRICT };

const MAX_PROGRAM_CHARS = 1 << 20;
/** Defaults of a problem: wall time for one test, for all tests, and memory of one test. */
const WALL_MS = 10_000;
const MEMORY_MB = 1024;

const limitsSchema = z.object({
  /** Only the first tests count, up to this number. */
  tests: z.int().positive().optional(),
  wallMs: z.int().min(100).max(MAX_TOTAL_MS).default(WALL_MS),
  totalMs: z.int().min(100).max(MAX_TOTAL_MS).default(MAX_TOTAL_MS),
  memoryMb: z.int().min(64).max(65_536).default(MEMORY_MB),
});

export const referenceSchema = z.object({
  input_output: z.union([z.string(), z.record(z.string(), z.unknown())]),
  fn_name: z.string().nullish(),
  compat: compatField,
  limits: limitsSchema.prefault({}),
});

/**
 * A Python program: all tests of the problem must pass, by its output or by its function's result. The last fenced
 * block of the completion runs once per test, each time in a new sandboxed process; results are compared outside the
 * sandbox, so that a program can pass only by computing the answers. The reference is { input_output, fn_name?,
 * compat?, limits? }, its tests as readTests reads them; strict by default. Wrong if a test fails, raises, is too
 * slow or prints while a function is called; unparsable if the program does not compile, and in reference mode if it
 * is too slow; no_answer without a program. Throws if the sandbox does not work. The reference runs every test,
 * because its verdict depends on all; strict stops at the first failure.
 * Source: PipelineRL, domains/coding, for rows of TACO and APPS.
 */
export function codeVerifier(sandbox: () => Promise<PythonSandbox>): Verifier<CodeReference> {
  return {
    ...FACTS.code,
    parseReference: parseCodeReference,

    async prepare() {
      await sandbox();
    },

    verify: ({ text }, reference) => judgeCompletion(text, reference, sandbox),
  };
}

/** Judges the program in a completion. Rejects as judgeProgram does. */
export async function judgeCompletion(
  text: string,
  reference: CodeReference,
  sandbox: () => Promise<PythonSandbox>,
): Promise<ScoredVerdict> {
  const source = reference.rules.programIn(text);
  if (source === undefined) return noAnswer("no fenced block of Python");
  if (source.length > MAX_PROGRAM_CHARS) return wrong(`program of ${source.length} characters`);
  return judgeProgram(source, reference, await sandbox());
}

export const code = codeVerifier(pythonSandbox);

function parseCodeReference(raw: unknown): CodeReference {
  const shape = "{ input_output, fn_name?, compat?, limits? }";
  return codeReference(checkedReference(referenceSchema, raw, "code", shape));
}

/** Throws HONE_ERR_DATA naming what is wrong with the tests. */
export function codeReference(checked: z.infer<typeof referenceSchema>): CodeReference {
  const { input_output, fn_name, compat, limits } = checked;
  const rules = RULES[compat];
  const { functionName, tests } = readTests(input_output, fn_name, rules);
  return {
    rules,
    functionName,
    tests: tests.slice(0, limits.tests),
    wallMs: limits.wallMs,
    totalMs: limits.totalMs,
    memoryBytes: limits.memoryMb * 2 ** 20,
  };
}
