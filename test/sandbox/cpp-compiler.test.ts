// Deliberate faults (mutants) that these tests detect: the compiler sees the network or the host's files, headers are
// not given, its errors are not told.
import { describe, expect, test } from "vitest";
import { compileCpp } from "../../lib/sandbox/cpp-compiler.ts";
import { nativeHere } from "../fixtures/native-sandbox.ts";

const sandbox = await nativeHere();
const compile = (source: string, headers: Record<string, string> = {}, compiler?: string) =>
  compileCpp(
    { source, headers: new Map(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])) },
    sandbox!.command,
    compiler,
  );

describe.skipIf(sandbox === undefined)("a compiler in the sandbox", () => {
  test("makes a program of a source and its headers", async () => {
    const binary = await compile('#include "one.h"\n#include "two.h"\nint main() { return one + two; }', {
      "one.h": "const int one = 1;",
      "two.h": "const int two = 2;",
    });
    expect(binary.subarray(0, 4).toString("latin1")).toBe("\x7fELF");
  });

  test("sees no file of the host beside /usr", async () => {
    const lines = ["/etc/passwd", import.meta.filename].map(
      (path) => `#if __has_include("${path}")\n#error "sees ${path}"\n#endif`,
    );
    expect((await compile(`${lines.join("\n")}\nint main() {}`)).length).toBeGreaterThan(0);
  });

  test("names the first error of a program that does not compile", async () => {
    const error = {
      code: "HONE_ERR_DATA",
      message: expect.stringMatching(/^does not compile: .*:2:.*nothing/),
    };
    await expect(compile("int main() {\n  return nothing;\n}")).rejects.toMatchObject(error);
  });

  test("a compiler that cannot run is no fault of the program", async () => {
    await expect(compile("int main() {}", {}, "/usr/bin/no-such-compiler")).rejects.toMatchObject({
      code: "HONE_ERR_VERIFIER",
      message: expect.stringContaining("/usr/bin/no-such-compiler ended with status 127"),
    });
  });
});
