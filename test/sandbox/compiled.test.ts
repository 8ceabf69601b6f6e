// Deliberate faults (mutants) that these tests detect: the header is no part of the key, a failure is kept, any
// folder is trusted, nothing is written.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { compileCpp } from "../../lib/sandbox/cpp-compiler.ts";

vi.mock("../../lib/sandbox/cpp-compiler.ts", async (original) => ({
  ...(await original<typeof import("../../lib/sandbox/cpp-compiler.ts")>()),
  compileCpp: vi.fn(),
}));
vi.mock("../../lib/sandbox/find-compiler.ts", () => ({ cppCompiler: () => "/usr/bin/g++" }));

const compile = vi.mocked(compileCpp);
const folder = () => join(process.env["TMPDIR"]!, `hone-compiled-${userInfo().uid}`);
let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "hone-compiled-test-"));
  vi.stubEnv("TMPDIR", temporary);
  vi.resetModules(); // each test is a process of its own
  compile.mockReset();
  compile.mockImplementation(async ({ source }) => Buffer.from(`binary of ${source}`));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true });
});

const program = (source: string, header = "") => ({
  source,
  headers: new Map([["a.h", Buffer.from(header)]]),
});
const fresh = async () => (await import("../../lib/sandbox/compiled.ts")).compiled;

test("a program is compiled once: by one process for many that ask at once, and for processes to come", async () => {
  const compiled = await fresh();
  const both = await Promise.all([compiled(program("a"), "bwrap"), compiled(program("a"), "bwrap")]);
  expect(both.map(String)).toEqual(["binary of a", "binary of a"]);
  vi.resetModules();
  expect(String(await (await fresh())(program("a"), "bwrap"))).toBe("binary of a");
  expect(compile).toHaveBeenCalledTimes(1);
  expect(readdirSync(folder())).toHaveLength(1);
});

test("another source or another header is another program", async () => {
  const compiled = await fresh();
  await compiled(program("a"), "bwrap");
  await compiled(program("b"), "bwrap");
  await compiled(program("a", "#define X"), "bwrap");
  expect(compile).toHaveBeenCalledTimes(3);
});

test("a program that did not compile is compiled again", async () => {
  const compiled = await fresh();
  compile.mockRejectedValueOnce(new Error("interrupted"));
  await expect(compiled(program("a"), "bwrap")).rejects.toThrow("interrupted");
  expect(String(await compiled(program("a"), "bwrap"))).toBe("binary of a");
});

test("a folder that others can write to is refused", async () => {
  mkdirSync(folder());
  chmodSync(folder(), 0o777);
  writeFileSync(join(folder(), "x"), "");
  await expect((async () => (await fresh())(program("a"), "bwrap"))()).rejects.toMatchObject({
    code: "HONE_ERR_IO",
    message: expect.stringContaining(folder()),
  });
});
