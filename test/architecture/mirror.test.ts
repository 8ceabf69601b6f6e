// The test of a file lies at the same place under test/, with the same name.
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript-6";
import { describe, expect, test } from "vitest";
import { CPP_ENDINGS, cppFunctions, filesUnder, parseTs, ROOT, read } from "./source-tree.ts";

/** Files tested elsewhere, and where. Keep the list short: each entry is an exception to the rule. */
const EXEMPT: Readonly<Record<string, string>> = {
  "csrc/core/cuda/check.h": "a throw around every call; every test on a device goes through it",
  "csrc/core/host_device.h": "one macro, in every signature of the formulas that both sides compute",
  "csrc/core/stream.h": "a tag and a handle; every kernel test passes one",
  "csrc/dist/gloo/group.cc": "behind the C table that gloo_transport.test.cc calls through its library",
  "csrc/dist/gloo/missing/gloo/common/memory.h": "two types by their size; nothing is laid out right without",
  "csrc/kernels/cpu/isa_avx2.cc":
    "compiles the .inc files for one instruction set; every kernel test runs on each",
  "csrc/kernels/cpu/isa_avx512.cc": "likewise",
  "csrc/kernels/cpu/isa_avx512bf16.cc": "likewise, of matmul_bf16.test.cc",
  "csrc/kernels/cpu/isa_baseline.cc": "likewise",
  "csrc/kernels/cpu/isa_list.inc": "the list of those .inc files",
  "csrc/kernels/cpu/isa_neon.cc": "as isa_avx2.cc",
  "csrc/kernels/cpu/rows.cc": "embedding, rms_norm, rope and swiglu, each with a test of its own",
  "csrc/kernels/cpu/rows.h": "likewise",
  "csrc/kernels/cpu/rows.inc": "likewise",
  "csrc/kernels/cpu/rows_block.h": "likewise",
  "csrc/kernels/cuda/rows.h": "likewise, each under test/csrc/kernels/cuda",
  "csrc/kernels/cuda/convolution.cuh":
    "the whole of short_conv.cu is one use of it, which short_conv.test.cc tests",
  "csrc/kernels/cuda/moves.cuh":
    "one copy an element; head_gate.test.cc and delta_rule.test.cc move columns by it",
  "csrc/kernels/cuda/operand_sm90.cuh": "descriptors; tma.test.cu multiplies its tiles by them",
  "csrc/kernels/cuda/wgmma.cuh": "one instruction a function; tma.test.cu multiplies a tile with all of them",
  "csrc/kernels/cuda/vector.cuh": "the cast kernel is one load and one store of it, tested as that",
  "csrc/model/half_backward.h":
    "attention's backward and the MLP's are its two uses; network.test.cc and the goldens differentiate both",
  "csrc/sandbox/program.cc": "one run of the server, which program_server.test.cc has run",
  "csrc/sandbox/program.h": "likewise",
  "csrc/trainer/training_step.cc":
    "chooses between the next two, which a trainer calls: trainer.test.cc, sharded_step.test.cc",
  "csrc/trainer/local_step.cc": "likewise",
  "csrc/trainer/local_step.h": "likewise",
  "csrc/trainer/divided_step.cc": "likewise",
  "csrc/trainer/divided_step.h": "likewise",
  "lib/report/page-style.ts": "a style sheet; a screenshot judges it",
  "lib/fleet/names.ts": "names and one record of numbers; every test of the module goes by them",
  "lib/fleet/role-main.ts": "where a process of a fleet begins; test/fleet/processes.test.ts starts it",
  "lib/samples/tables.ts": "lists of columns and names; test/samples/builder.test.ts fills them",
  "lib/streams/checks.ts":
    "bounds of arguments; the conformance suite (test/streams/conformance-waits.ts) breaks each",
  "lib/streams/driver-registers.ts": "likewise, over every driver",
  "lib/streams/memory-registers.ts": "likewise, and test/streams/memory.test.ts gives it the time",
  "lib/streams/memory-stream.ts": "likewise",
  "lib/streams/redis/calls.ts": "likewise, of a server; test/streams/redis/driver.test.ts runs it",
  "lib/streams/redis/scripts.ts": "likewise",
  "lib/streams/socket/messages.ts":
    "what a socket's two ends say; test/streams/socket/driver.test.ts runs both",
  "lib/cli/verbs.ts": "a list; test/cli/main.test.ts asks for it by --help",
  "lib/data/distinct-rows.ts":
    "counts of judged rows; test/data/row-filter.test.ts and row-threads.test.ts ask for all",
  "lib/data/used-row.ts": "views of one row; likewise",
  "lib/orchestration/setup/row-thread.ts":
    "where a thread begins; test/orchestration/setup/row-threads.test.ts starts it",
  "lib/rewards/pool/verifier-dispatcher.ts":
    "what the pool's thread does; test/rewards/pool/pool.test.ts runs it",
  "lib/rewards/pool/worker-group.ts":
    "the pool's threads and processes; test/rewards/pool/pool.test.ts runs them",
  "lib/rewards/pool/verifier-main.ts":
    "where a verifier's process begins; test/rewards/pool/verifier-process.test.ts starts it",
  "lib/rewards/pool/verifier-worker.ts":
    "where the pool's thread begins; test/rewards/pool/pool.test.ts starts it",
};

/** The addon only converts arguments and results, so the tests of its TypeScript callers cover it. */
const EXEMPT_FOLDERS: Readonly<Record<string, string>> = {
  "csrc/addon/": "tested from TypeScript in test/native/",
  "lib/text/jinja/": "parts of one interpreter: interpreter.test.ts renders what Python's Jinja rendered",
  "lib/cli/verbs/": "option lists in front of a module; test/cli/main.test.ts runs them as processes",
};

function exempt(file: string): boolean {
  return file in EXEMPT || Object.keys(EXEMPT_FOLDERS).some((folder) => file.startsWith(folder));
}

/**
 * csrc/kernels/cpu/matmul.cc -> test/csrc/kernels/matmul.test.cc, or the test of the module that includes the file.
 * csrc/kernels/cuda/matmul.cu -> the same in test/csrc/kernels/cuda, as .test.cu if the test has kernels of its own.
 */
function cppTests(file: string): string[] {
  const own = posix.join("test", posix.dirname(file));
  const above = own.replace(/\/(?:cpu|cuda)$/, "");
  const stem = posix.basename(file).replace(/\.[a-z]+$/, "");
  const words = stem.split("_");
  const names = words.map((_, k) => words.slice(0, words.length - k).join("_"));
  const places = own.endsWith("/kernels/cuda") ? [own] : [...new Set([own, above])];
  return places.flatMap((folder) =>
    names.flatMap((name) => [posix.join(folder, `${name}.test.cc`), posix.join(folder, `${name}.test.cu`)]),
  );
}

/** Tests named after a test: simd_avx2.test.cc is a variant of simd.test.cc and tests simd.h too. */
function variants(testFile: string): string[] {
  const [, path, ending] = /^(.*)(\.test\.c[cu])$/.exec(testFile)!;
  const words = path!.split("_");
  return words.map((_, k) => words.slice(0, words.length - k).join("_") + ending);
}

function tsTest(file: string): string {
  return file.replace(/^lib\//, "test/").replace(/\.ts$/, ".test.ts");
}

/** True for a file of types, interfaces and re-exports: it runs no code, so it needs no test. */
function doesNothing(source: ts.SourceFile): boolean {
  return source.statements.every(
    (s) =>
      ts.isInterfaceDeclaration(s) ||
      ts.isTypeAliasDeclaration(s) ||
      ts.isImportDeclaration(s) ||
      ts.isExportDeclaration(s) ||
      isPlainConstant(s),
  );
}

function isPlainConstant(statement: ts.Statement): boolean {
  if (!ts.isVariableStatement(statement)) return false;
  let computes = false;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) || ts.isCallExpression(node) || ts.isNewExpression(node)) computes = true;
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return !computes;
}

/** True for a header without function bodies: the tests of the files that define its functions cover it. */
function isNouns(file: string): boolean {
  return file.endsWith(".h") && cppFunctions(read(file)).length === 0;
}

const exists = (file: string) => existsSync(join(ROOT, file));
const cppFiles = filesUnder("csrc", CPP_ENDINGS);
const tsFiles = filesUnder("lib", [".ts"]);

describe("every source file has its test", () => {
  test("in C++", () => {
    const missing = cppFiles.filter((f) => !exempt(f) && !isNouns(f) && !cppTests(f).some(exists));
    expect(missing).toEqual([]);
  });

  test("in TypeScript", () => {
    const missing = tsFiles.filter((f) => !exempt(f) && !exists(tsTest(f)) && !doesNothing(parseTs(f)));
    expect(missing).toEqual([]);
  });
});

describe("every test has its source file", () => {
  test("in C++", () => {
    const sources = new Set(cppFiles.flatMap(cppTests));
    const orphans = filesUnder("test/csrc", [".test.cc", ".test.cu"]).filter(
      (file) => !variants(file).some((v) => sources.has(v)),
    );
    expect(orphans.filter((file) => !/\/(?:contract|parity)\//.test(file))).toEqual([]);
  });

  test("in TypeScript", () => {
    const sources = new Set(tsFiles.map(tsTest));
    const outside = /^test\/(?:architecture|contract|e2e|fixtures|csrc|native|scripts|recipes|docs)\//;
    const orphans = filesUnder("test", [".test.ts"]).filter(
      (file) => !outside.test(file) && !sources.has(file),
    );
    expect(orphans).toEqual([]);
  });
});

test("no exemption outlives its file", () => {
  expect(Object.keys(EXEMPT).filter((file) => !exists(file))).toEqual([]);
});
