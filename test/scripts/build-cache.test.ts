import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
// @ts-expect-error a script, not a module with types
import { discardForeignCache, foreignCache } from "../../scripts/build-cache.mjs";

let dir: string;
let first: string;
let second: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-build-cache-"));
  [first, second] = [join(dir, "first"), join(dir, "second")];
  mkdirSync(join(first, "build"), { recursive: true });
  writeFileSync(join(first, "CMakeLists.txt"), "cmake_minimum_required(VERSION 3.22)\nproject(small NONE)\n");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Configures as cmake-js does: in the build folder, with the sources as the argument. */
function configure(source: string): number | null {
  return spawnSync("cmake", [source], { cwd: join(source, "build"), encoding: "utf8" }).status;
}

test.each([
  ["copied", () => cpSync(first, second, { recursive: true })],
  ["moved", () => renameSync(first, second)],
])("CMake refuses the cache of a checkout that was %s; discarded, it configures", (_, bring) => {
  expect(configure(first)).toBe(0);
  expect(foreignCache(join(first, "build"), first)).toBeUndefined();
  bring();
  expect(configure(second)).not.toBe(0);
  const said: string[] = [];
  discardForeignCache(join(second, "build"), second, (line: string) => said.push(line));
  expect(said).toEqual([
    `hone: build is of no use here (it was made in ${join(first, "build")}): starting over`,
  ]);
  mkdirSync(join(second, "build"));
  expect(configure(second)).toBe(0);
});

test("what is its own stays, with everything compiled", () => {
  configure(first);
  discardForeignCache(join(first, "build"), first, () => expect.unreachable());
  expect(existsSync(join(first, "build/CMakeCache.txt"))).toBe(true);
});

test.each([
  ["half written", "CMAKE_GENERATOR:INTERNAL=Ninja\n", /half written/],
  ["of a compiler that is gone", "CMAKE_CXX_COMPILER:FILEPATH=/nowhere/g++\n", /\/nowhere\/g\+\+ is gone/],
  ["of no ccache", "HONE_CCACHE:FILEPATH=HONE_CCACHE-NOTFOUND\n", undefined],
])("a cache %s", (what, line, reason) => {
  const places = `CMAKE_CACHEFILE_DIR:INTERNAL=${join(first, "build")}\nCMAKE_HOME_DIRECTORY:INTERNAL=${first}\n`;
  writeFileSync(join(first, "build/CMakeCache.txt"), what === "half written" ? line : places + line);
  const found = foreignCache(join(first, "build"), first);
  if (reason === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(reason);
});

test("no cache is no foreign one", () => {
  expect(foreignCache(join(first, "build"), first)).toBeUndefined();
});
