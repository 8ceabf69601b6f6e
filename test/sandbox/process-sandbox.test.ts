// A stub replaces the process; test/contract/python-sandboxes.test.ts tests what every driver does. Deliberate faults
// (mutants) that these tests detect: the sandbox is probed before every run, the probe's result is ignored, module
// names are never read, an abort counts as a run, a killed process counts as finished by its report.
import { describe, expect, test } from "vitest";
import { str } from "../../lib/python/value.ts";
import { dumps, loads } from "../../lib/sandbox/marshal.ts";
import type { ProcessEnd } from "../../lib/sandbox/process-end.ts";
import { cpuSeconds, ProcessSandbox, REPORT_FD } from "../../lib/sandbox/process-sandbox.ts";
import type { PythonLimits, Readiness } from "../../lib/sandbox/python-sandbox.ts";

const LIMITS: PythonLimits = { wallMs: 1500, memoryBytes: 1 << 20, outputBytes: 100 };
const PROGRAM = { source: "print(gcd(4, 6))", stdin: "", dialect: "script" } as const;
const TRIED = "3.11.2\nmath gcd pi\nheapq heappush\n";

const ended = (
  stdout: string,
  rest: Partial<ProcessEnd> & { report?: Buffer; stderr?: string } = {},
): ProcessEnd => {
  const { report = Buffer.from("R"), stderr = "", end = "exited", status = 0 } = rest;
  const written = [
    [1, Buffer.from(stdout)],
    [2, Buffer.from(stderr)],
    [REPORT_FD, report],
  ] as const;
  return { end, status, spentMs: 7, written: new Map(written) };
};

class Stub extends ProcessSandbox {
  readonly name = "stub";
  readonly jobs: Buffer[] = [];
  readonly limits: PythonLimits[] = [];
  prepared = 0;
  readonly #ready: Readiness;
  readonly #ends: (ProcessEnd | Error)[];

  constructor(ends: (ProcessEnd | Error)[], ready: Readiness = { usable: true, what: "stub 7" }) {
    super();
    this.#ends = ends;
    this.#ready = ready;
  }

  protected async prepare(): Promise<Readiness> {
    this.prepared += 1;
    return this.#ready;
  }

  protected async start(job: Buffer, limits: PythonLimits): Promise<ProcessEnd> {
    this.jobs.push(job);
    this.limits.push(limits);
    const end = this.#ends.shift() ?? new Error("one start too many");
    if (end instanceof Error) throw end;
    return end;
  }
}

/** The import statements of a job, which are its last part. */
function importsOf(job: Buffer): unknown[] {
  const value = loads(job);
  const imports = value?.type === "tuple" ? value.items.at(-1) : undefined;
  return imports?.type === "list" ? imports.items.map((one) => "value" in one && one.value) : [];
}

describe("before the first run", () => {
  test("a driver is tried out once, and learns which module exports which name", async () => {
    const value = Buffer.concat([Buffer.from("RV"), dumps(str("two"))]);
    const stub = new Stub([ended(TRIED), ended("2\n", { report: value }), ended("2\n")]);
    const ready = { usable: true, what: "stub 7, python 3.11.2" };
    expect(await Promise.all([stub.probe(), stub.probe()])).toEqual([ready, ready]);
    const told = { end: "finished", detail: "", stdout: "2\n", stderr: "", spentMs: 7 };
    expect(await stub.run(PROGRAM, LIMITS)).toEqual({ ...told, value: str("two") });
    expect(await stub.run(PROGRAM, LIMITS)).toEqual({ ...told, value: undefined });
    expect([stub.prepared, stub.jobs.length]).toEqual([1, 3]);
    expect(importsOf(stub.jobs[0]!).length).toBeGreaterThan(20);
    expect(importsOf(stub.jobs[1]!)).toEqual(["from math import *"]);
    expect(stub.limits).toEqual([
      { wallMs: 10_000, memoryBytes: 2 ** 30, outputBytes: 2 ** 20 },
      LIMITS,
      LIMITS,
    ]);
  });

  const NOT_READY: Readiness = { usable: false, why: "needs a licence" };
  test.each<[string, (ProcessEnd | Error)[], Readiness | undefined, string]>([
    ["is not ready", [], NOT_READY, "needs a licence"],
    ["does not start", [new Error("spawn ENOENT"), new Error("spawn ENOENT")], undefined, "spawn ENOENT"],
    ["fails", [ended("", { status: 134 })], undefined, "the trial program ended failed: aborted"],
    [
      "is killed twice",
      [ended("", { status: 137 }), ended("", { status: 137 })],
      undefined,
      "something outside killed the process",
    ],
    ["is too slow", [ended(TRIED, { end: "too-slow" })], undefined, "the trial program ended too-slow: "],
    [
      "never reaches Python",
      [ended("", { report: Buffer.alloc(0), status: 2, stderr: "no\tsuch\noption" })],
      undefined,
      "no such option",
    ],
    [
      "says much",
      [
        ended("", {
          report: Buffer.alloc(0),
          status: 1,
          stderr: `Traceback\n${"at\n".repeat(99)}File "x"\nIt: broke\n`,
        }),
      ],
      undefined,
      'at File "x" It: broke',
    ],
    [
      "says nothing at all",
      [ended("", { report: Buffer.alloc(0), status: 2 })],
      undefined,
      "Python was not reached, status 2",
    ],
  ])("one that %s is not usable, and running is our fault", async (_, ends, ready, why) => {
    const stub = new Stub([...ends, ...ends], ready);
    expect(await stub.probe()).toEqual({ usable: false, why });
    await expect(stub.run(PROGRAM, LIMITS)).rejects.toMatchObject({
      code: "HONE_ERR_VERIFIER",
      message: `the stub sandbox does not work: ${why}`,
      hint: expect.stringContaining("hone doctor"),
    });
    expect(stub.prepared).toBe(2);
  });

  test("a trial that failed is made again, one that succeeded is not", async () => {
    const killed = ended("", { status: 137 });
    const stub = new Stub([killed, killed, ended(TRIED)]);
    const usable = [await stub.probe(), await stub.probe(), await stub.probe()].map((r) => r.usable);
    expect([usable, stub.jobs.length]).toEqual([[false, true, true], 3]);
  });
});

describe("a run", () => {
  const value = Buffer.concat([Buffer.from("RV"), dumps(str("claimed"))]);
  test.each(["too-slow", "too-much-output"] as const)(
    "that was %s has no value, whatever it reported",
    async (end) => {
      const stub = new Stub([ended(TRIED), ended("partly", { end, status: 137, report: value })]);
      expect(await stub.run(PROGRAM, LIMITS)).toEqual({
        end,
        detail: "",
        stdout: "partly",
        stderr: "",
        spentMs: 7,
        value: undefined,
      });
    },
  );

  test("that was called off is no verdict", async () => {
    const stub = new Stub([ended(TRIED), ended("", { end: "aborted" })]);
    await expect(stub.run(PROGRAM, LIMITS)).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
  });

  test("that does not start is our fault, and the next one starts", async () => {
    const stub = new Stub([ended(TRIED), new Error("EAGAIN"), new Error("EAGAIN"), ended("2\n")]);
    await expect(stub.run(PROGRAM, LIMITS)).rejects.toMatchObject({ code: "HONE_ERR_VERIFIER" });
    expect(await stub.run(PROGRAM, LIMITS)).toMatchObject({ end: "finished", stdout: "2\n" });
  });
});

test.each<[string, ProcessEnd | Error]>([
  ["killed from outside", ended("2\n", { status: 137 })],
  ["lost", new Error("bwrap is gone")],
])("a run whose process was %s is made once more", async (_, end) => {
  const stub = new Stub([ended(TRIED), end, ended("2\n")]);
  expect(await stub.run(PROGRAM, LIMITS)).toMatchObject({ end: "finished", stdout: "2\n" });
  expect(stub.jobs.length).toBe(3);
});

// The kernel may count twice the processor time that a program used (beside processes that sleep often), so its limit
// must be far higher.
test("the kernel's limit of processor time is far above the time limit", () => {
  expect([1, 1000, 1001].map((wallMs) => cpuSeconds({ ...LIMITS, wallMs }))).toEqual([9, 9, 17]);
});
