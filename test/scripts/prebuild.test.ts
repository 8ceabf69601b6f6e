import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
// @ts-expect-error a script, not a module with types
import { architectures, crossOptions, tooNew } from "../../scripts/prebuild.mjs";

const [OTHER, COMPILER] =
  process.arch === "x64" ? ["arm64", "aarch64-linux-gnu-g++"] : ["x64", "x86_64-linux-gnu-g++"];
afterEach(() => vi.unstubAllEnvs());

const DYNAMIC = ` 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [libgcc_s.so.1]
 0x0000000000000001 (NEEDED)             Shared library: [ld-linux-x86-64.so.2]`;

test("an addon with symbols of glibc 2.28 and older loads where it is promised to", () => {
  const symbols = `
0000000000000000      DF *UND*	0000000000000000 (GLIBC_2.2.5) memcpy
0000000000000000      DF *UND*	0000000000000000 (GLIBC_2.28) fcntl64
0000000000000000      DF *UND*	0000000000000000 (GCC_3.0)   _Unwind_Resume`;
  expect(tooNew(symbols, DYNAMIC)).toEqual([]);
});

test("newer symbols, the system's C++ library and other libraries are named", () => {
  const symbols = `
0000000000000000      DF *UND*	0000000000000000 (GLIBC_2.34) pthread_create
0000000000000000      DF *UND*	0000000000000000  GLIBC_2.29  exp
0000000000000000      DF *UND*	0000000000000000 (GLIBCXX_3.4.21) _ZNSt7__cxx1112basic_stringIcE`;
  const dynamic = `${DYNAMIC}\n 0x0000000000000001 (NEEDED)             Shared library: [libgloo.so]`;
  expect(tooNew(symbols, dynamic)).toEqual([
    "pthread_create of glibc 2.34",
    "exp of glibc 2.29",
    "_ZNSt7__cxx1112basic_stringIcE of libstdc++.so.6",
    "libgloo.so",
  ]);
});

test("another processor's core is compiled where its cross-compiler is", () => {
  const bin = mkdtempSync(join(tmpdir(), "hone-prebuild-"));
  vi.stubEnv("PATH", bin);
  expect(architectures()).toEqual([process.arch]);
  writeFileSync(join(bin, COMPILER), "#!/bin/sh\nexit 0\n");
  chmodSync(join(bin, COMPILER), 0o755);
  expect(architectures()).toEqual(["x64", "arm64"]);
  expect(crossOptions(OTHER)).toContain(`-DCMAKE_CXX_COMPILER=${COMPILER}`);
  expect(crossOptions(process.arch)).toEqual([]);
});
