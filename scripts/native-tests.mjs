// Names the C++ test programs, parses ctest's output, and records the sources with which all of them passed.
// node scripts/native-tests.mjs prints "passed" if all C++ tests have passed with these sources, "compiled" if the installed
// nvcc has also compiled the kernels of these sources, otherwise "changed".
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { nvccVersion } from "./cuda-resources.mjs";

/** The files on which the result of the C++ tests depends; the addon's own files are tested from TypeScript. */
const SOURCES = ["CMakeLists.txt", "csrc", "test/csrc", "scripts/test.mjs", "scripts/cuda-resources.mjs"];
const NOT_TESTED = /^csrc\/addon\//;
/** A complete run that passes writes this file, which is committed. */
export const PASSED = "test/csrc/passed.json";

/** Returns the SHA-256 of the names and contents of the sources. */
export function sourcesHash(root) {
  const files = SOURCES.flatMap((at) =>
    at.includes(".")
      ? [at]
      : readdirSync(path.join(root, at), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
  );
  const hash = createHash("sha256");
  for (const file of files.filter((name) => name !== PASSED && !NOT_TESTED.test(name)).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

/**
 * Returns what is known of the present sources: "passed" if all C++ tests have passed with them, "compiled" if release
 * `nvcc` of the CUDA compiler has also compiled their kernels and found no fault, otherwise "changed".
 */
export function knownOf(root, nvcc) {
  const file = path.join(root, PASSED);
  const run = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  if (run.sources !== sourcesHash(root)) return "changed";
  return nvcc !== undefined && run.nvcc === nvcc ? "compiled" : "passed";
}

/** Tests of instruction sets that this processor does not have; CMakeLists.txt leaves them out too. */
const FOREIGN = process.arch === "arm64" ? /\/(?:isa|simd)_avx\w+$/ : /\/(?:isa|simd)_neon$/;

/**
 * Returns the targets of the programs of some modules: "core/json.test.cc" -> "test_core_json", as in CMakeLists.txt.
 * Throws for a name without a test.
 */
export function testPrograms(sources, modules) {
  const names = sources
    .map((source) => source.replaceAll("\\", "/"))
    .filter((source) => /\.test\.c[cu]$/.test(source))
    .map((source) => source.slice(0, -".test.cc".length))
    .filter((name) => !FOREIGN.test(name));
  const isOf = (module) => (name) => name === module || name.split("/")[0] === module;
  const unknown = modules.find((module) => !names.some(isOf(module)));
  if (unknown !== undefined)
    throw new Error(
      `no C++ test is called ${unknown}; names are those of test/csrc/NAME.test.cc and its folders`,
    );
  return names
    .filter((name) => modules.some((module) => isOf(module)(name)))
    .map((name) => `test_${name.replaceAll("/", "_")}`)
    .sort();
}

/**
 * Returns the pattern with which ctest -R finds the same modules and programs. It has a single group, because CMake allows
 * only nine.
 */
export function testPattern(modules) {
  const programs = modules.filter((name) => name.includes("/")).map((name) => name.replaceAll("/", "_"));
  const folders = modules.filter((name) => !name.includes("/"));
  const whole = programs.flatMap((name) => [`${name}$`, `${name}_ahead$`]);
  return `^(${[...folders.map((name) => `${name}_`), ...whole].join("|")})`;
}

/**
 * Turns " 3/97 Test #12: core_json ...   Passed    0.21 sec" into "3/97 core_json passed 0.21 s"; returns undefined for
 * other lines.
 */
export function programResult(line) {
  const found = /^\s*(\d+\/\d+) Test +#\d+: (\S+) \.*\**\s*(.*?) +([\d.]+) sec\s*$/.exec(line);
  if (found === null) return undefined;
  const [, at, name, result, seconds] = found;
  return `${at} ${name} ${result.replace(/^\**/, "").toLowerCase()} ${seconds} s`;
}

/**
 * Counts the cases in the programs' output. A run that failed, or in which no program printed a count, has at least one
 * failed case.
 */
export function countCases(text, isGood) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const [, cases, , skipped] of text.matchAll(/^(\d+) cases, (\d+) failures, (\d+) skipped$/gm)) {
    count.passed += Number(cases) - Number(skipped);
    count.skipped += Number(skipped);
  }
  const broken = [...text.matchAll(/^FAIL /gm)].length;
  const ran = /^\d+ cases, /m.test(text);
  count.failed = isGood && ran ? 0 : Math.max(1, broken);
  count.passed -= broken;
  return count;
}

/** Returns the reasons for skipped cases, with their numbers: "skipped 12: no golden data". */
export function skipLines(text) {
  const reasons = new Map();
  for (const [, reason] of text.matchAll(/^ *skipped: (.+)$/gm))
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [...reasons].map(([reason, cases]) => `skipped ${cases}: ${reason}`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
  console.log(knownOf(root, nvccVersion()));
}
