import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { nativeSandbox } from "../../sandbox/choose.ts";
import { compiled } from "../../sandbox/compiled.ts";
import type { CppProgram } from "../../sandbox/cpp-compiler.ts";
import { checkedReference } from "../checked.ts";
import type { Verifier } from "../verifier.ts";
import { FACTS } from "./facts.ts";
import type { CodeReference } from "./judging.ts";
import { outputJudge, type RunChecker } from "./testlib.ts";
import { needsTestlib, TESTLIB } from "./testlib-header.ts";
import { codeReference, judgeCompletion, referenceSchema } from "./verify.ts";

const MAX_SOURCE_CHARS = 1 << 20;

const checkerSchema = referenceSchema.omit({ fn_name: true }).extend({
  checker: z.string().min(1).max(MAX_SOURCE_CHARS),
  testlib: z
    .string()
    .refine((path) => basename(path) === TESTLIB, `it must be the path of a file ${TESTLIB}`)
    .optional(),
});

export interface CheckerReference extends CodeReference {
  /** The checker's source, and where testlib.h is. */
  readonly checker: string;
  readonly testlib: string | undefined;
}

/** A small C++ program that includes what checkers include, to test whether this machine can compile checkers. */
const TRIAL: CppProgram = { source: "#include <string>\nint main() { return 0; }\n", headers: new Map() };

/**
 * A Python program for a problem with several right outputs: a checker of testlib's kind, in C++, judges what the
 * program prints. The reference is { input_output, checker, testlib?, compat?, limits? }: that of the verifier
 * `code`, with the checker's source and the path of testlib.h. The program runs as under `code` and never sees the
 * answer; the checker runs in another process of the sandbox bubblewrap, with the input, the program's output and the
 * answer as files. Verdicts are those of `code`, and partial if the checker gives points. Throws if the sandbox or
 * the compiler does not work, the checker does not compile, says that it failed, or does not take the answer itself.
 * Source: MikeMirzayanov/testlib; data set card ByteDance-Seed/Code-Contests-Plus.
 */
export const checker: Verifier<CheckerReference> = {
  ...FACTS.checker,

  parseReference(raw) {
    const read = checkedReference(
      checkerSchema,
      raw,
      "checker",
      "{ input_output, checker, testlib?, limits? }",
    );
    const reference = codeReference(read);
    if (read.testlib === undefined && needsTestlib(read.checker))
      throw new HoneError(
        "HONE_ERR_DATA",
        "checker: the checker includes testlib.h, but the reference's field testlib does not say where that file is",
      );
    if (reference.functionName !== undefined)
      throw new HoneError(
        "HONE_ERR_DATA",
        "checker: the tests call a function; a checker judges printed output",
      );
    return { ...reference, checker: read.checker, testlib: read.testlib };
  },

  async prepare() {
    await compiled(TRIAL, (await nativeSandbox()).command);
  },

  verify({ text }, reference) {
    const judgeOutput = outputJudge(reference.tests, () => openChecker(reference));
    return judgeCompletion(text, { ...reference, judgeOutput }, nativeSandbox);
  },
};

async function openChecker({ checker, testlib }: CheckerReference): Promise<RunChecker> {
  const sandbox = await nativeSandbox();
  const headers = new Map(testlib === undefined ? [] : [[TESTLIB, readHeader(testlib)]]);
  const binary = await compiled({ source: checker, headers }, sandbox.command).catch((cause: Error) => {
    if (!HoneError.is(cause) || cause.code !== "HONE_ERR_DATA") throw cause;
    throw new HoneError("HONE_ERR_DATA", `the problem's checker ${cause.message}`, { cause });
  });
  return (files, limits) => sandbox.runNative({ binary, files }, limits);
}

function readHeader(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new HoneError("HONE_ERR_IO", `cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
}
