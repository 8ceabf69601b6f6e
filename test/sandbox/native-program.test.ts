// Deliberate faults (mutants) that these tests detect: the report stays open, files are written elsewhere, a program
// that was not started looks finished.
import { describe, expect, test } from "vitest";
import { compileCpp } from "../../lib/sandbox/cpp-compiler.ts";
import { launchJob, NOT_STARTED } from "../../lib/sandbox/native-program.ts";
import { nativeHere } from "../fixtures/native-sandbox.ts";
import { patient } from "../patience.ts";

const sandbox = await nativeHere();
const LIMITS = { wallMs: 500, memoryBytes: 2 ** 29, outputBytes: 1 << 20 };

/** Ends with status 10 plus the number of things that it should not be able to do. */
const PROBE = `
#include <cstdio>
#include <fstream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int faults = 0;
  for (int i = 1; i < argc; i++) {
    std::string text;
    std::getline(std::ifstream(argv[i]), text);
    fprintf(stderr, "%s=%s;", argv[i], text.c_str());
  }
  faults += fork() >= 0;
  faults += socket(AF_INET, SOCK_STREAM, 0) >= 0;
  faults += std::ifstream("/etc/passwd").good();
  faults += write(3, "x", 1) == 1;
  faults += std::ofstream("/usr/x").good();
  return 10 + faults;
}`;
const ALLOCATES = "#include <vector>\nint main() { return int(std::vector<char>(1u << 30, 1)[5]) - 1; }";

describe.skipIf(sandbox === undefined)("a compiled program", async () => {
  const run = async (
    source: string,
    files: readonly (readonly [string, string])[] = [],
    wallMs = LIMITS.wallMs,
  ) => {
    const binary = await compileCpp({ source, headers: new Map() }, sandbox!.command);
    return sandbox!.runNative({ binary, files }, { ...LIMITS, wallMs });
  };

  test("finds its files as arguments, and is confined as a Python program is", async () => {
    const files = [
      ["input", "é"],
      ["answer", "42"],
    ] as const;
    expect(await run(PROBE, files)).toMatchObject({
      end: "exited",
      status: 10,
      stderr: "input=é;answer=42;",
    });
  });

  test.each([
    ["an endless loop", "int main() { for (;;); }", { end: "too-slow" }],
    ["too much memory", ALLOCATES, { end: "exited", stderr: expect.stringContaining("bad_alloc") }],
    ["a wrong address", "int main() { *(volatile int*)0 = 1; }", { end: "exited", status: 128 + 11 }],
    ["endless output", '#include <cstdio>\nint main() { for (;;) puts("x"); }', { end: "too-much-output" }],
  ])("%s ends it", async (_, source, end) => {
    const ended = await run(source);
    expect(ended).toMatchObject(end);
    expect(ended.status).not.toBe(0);
  });

  test("that cannot be started, or gets a file beyond the limit, has a status of its own", async () => {
    const noProgram = { binary: Buffer.from("not a program"), files: [] };
    expect((await sandbox!.runNative(noProgram, LIMITS)).status).toBe(NOT_STARTED);
    const large = await run("int main() {}", [["input", "x".repeat(17 << 20)]], patient(10_000));
    expect(large).toMatchObject({ status: NOT_STARTED, stderr: expect.stringContaining("File too large") });
  });
});

test("a job holds the binary's bytes as they are", () => {
  const binary = Buffer.from([0, 127, 128, 255, 10]);
  expect(launchJob({ binary, files: [] }).includes(binary)).toBe(true);
});
