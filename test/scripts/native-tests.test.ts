import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import * as native from "../../scripts/native-tests.mjs";

const { countCases, knownOf, PASSED, programResult, skipLines, sourcesHash, testPattern, testPrograms } =
  native;

test("programs of modules are called as CMake calls them", () => {
  const sources = [
    "core/json.test.cc",
    "core/cuda/device.test.cc",
    "engine/step.test.cc",
    "check.cc",
    "core/a.test.cu",
  ];
  expect(testPrograms(sources, ["core"])).toEqual(["test_core_a", "test_core_cuda_device", "test_core_json"]);
  expect(testPrograms(sources, ["core/json", "engine/step"])).toEqual(["test_core_json", "test_engine_step"]);
  expect(() => testPrograms(sources, ["core", "engine/stop"])).toThrow("no C++ test is called engine/stop");
  expect(() => testPrograms(sources, ["check"])).toThrow("no C++ test is called check");
});

test("tests of another processor's instruction sets are no programs here", () => {
  const sources = ["kernels/simd_neon.test.cc", "kernels/simd_avx2.test.cc", "kernels/matmul.test.cc"];
  const here = process.arch === "arm64" ? "test_kernels_simd_neon" : "test_kernels_simd_avx2";
  expect(testPrograms(sources, ["kernels"])).toEqual(["test_kernels_matmul", here].sort());
});

test("ctest runs what was built, and nothing that only begins like it", () => {
  const wanted = new RegExp(testPattern(["core", "engine/step"]));
  const names = ["core_json", "engine_step", "engine_step_ahead", "engine_step_sharing", "score_json"];
  expect(names.filter((name) => wanted.test(name))).toEqual([
    "core_json",
    "engine_step",
    "engine_step_ahead",
  ]);
});

test("however many names are asked for, the pattern is one that CMake takes, with nine groups at most", () => {
  const names = Array.from({ length: 40 }, (_, i) => `kernels/op${i}`);
  const pattern = testPattern(names);
  expect(pattern.match(/\(/g)!.length).toBeLessThanOrEqual(9);
  for (const name of ["kernels_op0", "kernels_op39", "kernels_op39_ahead"])
    expect(name).toMatch(new RegExp(pattern));
  expect("kernels_op40").not.toMatch(new RegExp(pattern));
});

test.each([
  [" 3/97 Test #12: core_json ......................   Passed    0.21 sec", "3/97 core_json passed 0.21 s"],
  [
    "97/97 Test  #4: core_tensor ....................***Failed    1.00 sec",
    "97/97 core_tensor failed 1.00 s",
  ],
  ["12: ok   reads_numbers", undefined],
  ["test 12", undefined],
])("%s", (line, result) => {
  expect(programResult(line)).toBe(result);
});

const PRINTED = `ok   a
  skipped: no golden data
ok   b
2 cases, 0 failures, 1 skipped
FAIL c
1 cases, 3 failures, 0 skipped
`;

test("cases are counted over the programs; one that never came to its end counts as failed", () => {
  expect(countCases(PRINTED, false)).toEqual({ passed: 1, failed: 1, skipped: 1 });
  expect(countCases("", false)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  expect(countCases("No tests were found!!!\n", true)).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test("reasons of skips are said once, with how many", () => {
  expect(skipLines(`${PRINTED}  skipped: no Hopper\n  skipped: no golden data\n`)).toEqual([
    "skipped 2: no golden data",
    "skipped 1: no Hopper",
  ]);
});

test("sources that passed are known by their names and contents; any change asks for another run", () => {
  const root = mkdtempSync(join(tmpdir(), "hone-passed-"));
  const write = (file: string, text: string) => {
    mkdirSync(join(root, file, ".."), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  for (const file of ["CMakeLists.txt", "scripts/test.mjs", "scripts/cuda-resources.mjs", "csrc/core/a.cc"])
    write(file, "1");
  write("csrc/addon/addon.cc", "1");
  write("test/csrc/core/a.test.cc", "1");
  expect(knownOf(root, "13.0")).toBe("changed");
  write(PASSED, JSON.stringify({ sources: sourcesHash(root) }));
  expect(knownOf(root, "13.0")).toBe("passed");
  write("csrc/addon/addon.cc", "2");
  expect(knownOf(root, "13.0")).toBe("passed");
  write(PASSED, JSON.stringify({ sources: sourcesHash(root), nvcc: "13.0" }));
  expect(["13.0", "13.1", undefined].map((nvcc) => knownOf(root, nvcc))).toEqual([
    "compiled",
    "passed",
    "passed",
  ]);
  for (const [file, text] of [
    ["csrc/core/a.cc", "2"],
    ["csrc/core/b.cc", ""],
    ["test/csrc/core/a.test.cc", "2"],
    ["CMakeLists.txt", "2"],
  ] as const) {
    const before = mkdtempSync(join(tmpdir(), "hone-passed-"));
    cpSync(root, before, { recursive: true });
    write(file, text);
    expect(knownOf(root, "13.0"), file).toBe("changed");
    rmSync(root, { recursive: true });
    cpSync(before, root, { recursive: true });
    rmSync(before, { recursive: true });
  }
  rmSync(root, { recursive: true });
});
