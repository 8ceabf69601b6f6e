// Every driver must do the same with these programs, in both dialects. Drivers that do not work here are skipped.
import { existsSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { dict, float, int, list, type PythonValue, str } from "../../lib/python/value.ts";
import { PyodideSandbox } from "../../lib/sandbox/pyodide.ts";
import type { PythonProgram, PythonRun, PythonSandbox } from "../../lib/sandbox/python-sandbox.ts";
import { SandboxFusion } from "../../lib/sandbox/sandboxfusion.ts";
import { bubblewrap, LIMITS } from "../fixtures/python-sandboxes.ts";
import { StandInServer } from "../fixtures/sandboxfusion-server.ts";

const server = new StandInServer();
afterAll(() => server[Symbol.asyncDispose]());
const url = existsSync("/usr/bin/python3") ? await server.listen() : undefined;
const drivers: readonly PythonSandbox[] = [bubblewrap, new PyodideSandbox(), new SandboxFusion(url)];
const readiness = await Promise.all(drivers.map((driver) => driver.probe()));

type Case = readonly [why: string, program: Partial<PythonProgram>, run: Partial<PythonRun>];
const finished = (stdout: string): Partial<PythonRun> => ({ end: "finished", stdout });
const called = (body: string, ...args: PythonValue[]): Partial<PythonProgram> => ({
  source: `def f(*args):\n    ${body}`,
  call: { name: "f", args },
});
const returned = (value: PythonValue): Partial<PythonRun> => ({ end: "finished", value });
const EVERYTHING = list([
  int(2n ** 70n),
  int(-1),
  float(-0.5),
  str("é😀\n"),
  { type: "NoneType" },
  { type: "bool", value: true },
  list([]),
  dict([[str("__proto__"), int(1)]])!,
]);

const CASES: readonly Case[] = [
  ["prints", { source: "print('é😀')" }, finished("é😀\n")],
  [
    "reads lines",
    { source: "import sys\nprint(input(), sys.stdin.read())", stdin: "a\nb\nc" },
    finished("a b\nc\n"),
  ],
  [
    "reads bytes",
    { source: "import sys\nprint(sys.stdin.buffer.read())", stdin: "é\n" },
    finished("b'\\xc3\\xa9\\n'\n"),
  ],
  [
    "reads to the end and beyond",
    { source: "import sys\nprint(repr(sys.stdin.read() + sys.stdin.readline()))", stdin: "a" },
    finished("'a'\n"),
  ],
  ["has no input", { source: "try:\n    input()\nexcept EOFError:\n    print('none')" }, finished("none\n")],
  ["writes without a flush", { source: "import sys\nsys.stdout.write('a')" }, finished("a")],
  ["is __main__", { source: "print(__name__)" }, finished("__main__\n")],
  [
    "uses the preamble",
    { source: "print(gcd(4, 6), Counter('a')['a'], deque([1])[0])" },
    finished("2 1 1\n"),
  ],
  [
    "has the names of the preamble's last word",
    { source: "print(pow(2, 3, 5), copy.copy(1), Counter.__module__)" },
    finished("3 1 typing\n"),
  ],
  ["exits", { source: "print(1)\nexit(3)\nprint(2)" }, finished("1\n")],
  [
    "defines classes that know their module",
    { source: "class A: pass\nimport sys\nprint(sys.modules[A.__module__].A is A)" },
    finished("True\n"),
  ],
  ["raises", { source: "print(1)\n{}['a']" }, { end: "failed", detail: "KeyError: 'a'", stdout: "1\n" }],
  ["does not compile", { source: "x = = 1" }, { end: "syntax", stdout: "" }],
  ["holds a null character", { source: "x = 1\0" }, { end: "syntax", stdout: "" }],
  ["holds half a character", { source: "x = '\ud800'" }, { end: "syntax", stdout: "" }],
  ["returns what it is given", called("return list(args)", ...EVERYTHING.items), returned(EVERYTHING)],
  ["returns a tuple", called("return (1, 2)"), returned({ type: "tuple", items: [int(1), int(2)] })],
  ["returns a set", called("return {7}"), returned({ type: "set", items: [int(7)] })],
  [
    "is a method",
    { source: "class Solution:\n    def f(self, x):\n        return x", call: { name: "f", args: [int(5)] } },
    returned(int(5)),
  ],
  [
    "has no such function",
    { source: "x = 1", call: { name: "f", args: [] } },
    { end: "failed", value: undefined },
  ],
  ["exits in the call", called("exit()"), { end: "finished", value: undefined }],
];

describe.each(drivers.map((driver, i) => [driver.name, driver, readiness[i]!.usable] as const))(
  "%s",
  (name, sandbox, usable) => {
    const run = (program: Partial<PythonProgram>) =>
      sandbox.run({ source: "", stdin: "", dialect: "script", ...program }, LIMITS);

    test.skipIf(!usable).each(CASES)("a program that %s", async (_, program, expected) => {
      expect(await run(program)).toMatchObject(expected);
      // The harness implements the dialects, not the driver, so one driver is enough.
      if (name === "bubblewrap") {
        expect(await run({ ...program, dialect: "guarded" })).toMatchObject(expected);
      }
    });

    test.skipIf(!usable)(
      "only the guarded dialect sends instances of other classes, as what they hold",
      async () => {
        const source =
          "import enum\nclass E(enum.IntEnum):\n    A = 4\ndef f():\n    return Counter('aab'), E.A, True";
        const program = { source, call: { name: "f", args: [] } };
        expect(await run(program)).toMatchObject({ end: "finished", detail: "a tuple", value: undefined });
        const counter = dict([
          [str("a"), int(2)],
          [str("b"), int(1)],
        ])!;
        expect((await run({ ...program, dialect: "guarded" })).value).toEqual({
          type: "tuple",
          items: [counter, int(4), { type: "bool", value: true }],
        });
      },
    );

    test.skipIf(!usable)("runs do not see each other", async () => {
      await run({
        source: "import builtins, os\nbuiltins.left = 1\nopen('left', 'w').close()\nos.environ['left'] = '1'",
      });
      const source =
        "import os\nprint('left' in dir(__builtins__), os.path.exists('left'), 'left' in os.environ)";
      expect((await run({ source })).stdout).toBe("False False False\n");
    });

    test.skipIf(!usable)("what never ends is too slow, what prints without end prints too much", async () => {
      const program = { stdin: "", dialect: "script" } as const;
      const endless = { ...LIMITS, wallMs: 600 };
      expect((await sandbox.run({ ...program, source: "while True: pass" }, endless)).end).toBe("too-slow");
      const source = "for i in range(10**5): print('x' * 10)";
      const flood = await sandbox.run({ ...program, source }, { ...LIMITS, outputBytes: 10_000 });
      expect(flood.end).toBe("too-much-output");
    });
  },
);
