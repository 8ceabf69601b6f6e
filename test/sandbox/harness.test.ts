// Deliberate faults (mutants) that these tests detect: the first report is not required, the exit status is ignored
// after a value.
import { describe, expect, test } from "vitest";
import { int, str } from "../../lib/python/value.ts";
import { jobBytes, printable, readTraces } from "../../lib/sandbox/harness.ts";
import { dumps, loads } from "../../lib/sandbox/marshal.ts";

const told = { stdout: "out", stderr: "it says" };
const traces = (report: Buffer | string, status = 0, stderr = "it says") =>
  readTraces({ ...told, stderr, report: Buffer.from(report as string), status });
const value = (v: Parameters<typeof dumps>[0]) => Buffer.concat([Buffer.from("RV"), dumps(v)]);

describe("traces", () => {
  test("without the first report are our fault", () => {
    expect(traces("")).toBeUndefined();
    expect(traces("VR")).toBeUndefined();
  });

  test.each([
    ["a value", value(int(3)), 0, "it says", { end: "finished", detail: "", value: int(3) }],
    ["no value", "R", 0, "it says", { end: "finished", detail: "", value: undefined }],
    [
      "a value of no known type",
      "RTFraction",
      0,
      "it says",
      { end: "finished", detail: "a Fraction", value: undefined },
    ],
    ["junk for a value", "RVjunk", 0, "it says", { end: "finished", detail: "", value: undefined }],
    [
      "a second value behind the first",
      Buffer.concat([value(int(3)), value(int(4))]),
      0,
      "it says",
      { end: "finished", detail: "", value: undefined },
    ],
    ["junk", "R\0\xff", 0, "it says", { end: "finished", detail: "", value: undefined }],
    [
      "a claim that the sandbox is broken",
      "RR",
      0,
      "it says",
      { end: "finished", detail: "", value: undefined },
    ],
    [
      "a value and a crash",
      value(int(3)),
      1,
      "it says",
      { end: "failed", detail: "exit status 1", value: undefined },
    ],
    ["no syntax", "Sinvalid syntax", 0, "it says", undefined],
    [
      "a source that does not compile",
      "RSinvalid\nsyntax",
      0,
      "it says",
      { end: "syntax", detail: "invalid syntax", value: undefined },
    ],
    [
      "an exception",
      "R",
      1,
      "Traceback\n  x\nValueError: a\tb\n",
      { end: "failed", detail: "ValueError: a b", value: undefined },
    ],
    [
      "an exception without a message",
      "R",
      1,
      "Traceback\nKeyError\n",
      { end: "failed", detail: "KeyError", value: undefined },
    ],
    ["a signal", "R", 139, "", { end: "failed", detail: "segmentation fault", value: undefined }],
    ["a status", "R", 7, "what ever\n", { end: "failed", detail: "exit status 7", value: undefined }],
  ] as const)("of %s", (_, report, status, stderr, expected) => {
    expect(traces(report as Buffer, status, stderr)).toEqual(expected && { ...told, stderr, ...expected });
  });
});

test("a job holds the program and what it is given, and nothing else", () => {
  const program = {
    source: "x",
    stdin: "5",
    dialect: "script",
    call: { name: "f", args: [int(1)] },
  } as const;
  expect(loads(jobBytes(program, ["import math"]))).toEqual({
    type: "tuple",
    items: [
      str("x"),
      str("5"),
      str("f"),
      { type: "list", items: [int(1)] },
      { type: "bool", value: false },
      { type: "list", items: [str("import math")] },
    ],
  });
});

test("the guarded dialect moves every line that is not blank to the right", () => {
  const job = loads(jobBytes({ source: 'a = """\n\nb"""', stdin: "", dialect: "guarded" }, []));
  const source = job?.type === "tuple" ? job.items[0] : undefined;
  expect(source).toEqual(str('try:\n    pass\n    a = """\n\n    b"""\nfinally:\n    pass\n'));
});

test("details are one short line", () => {
  expect(printable(`a\u0000\n\u202e b${"c".repeat(300)}`)).toBe(`a b${"c".repeat(97)}`);
});
