// Tests what JavaScript can do in the process of a Pyodide run after it has escaped from Python: here the process has
// all of Node, without the permission model and without replaced functions.
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageRoot } from "../../lib/package-root.ts";
import { CHILD } from "../../lib/sandbox/pyodide-child.ts";
import { computingFilter } from "../../lib/sandbox/seccomp.ts";
import { Zygote, type ZygoteRun } from "../../lib/sandbox/zygote.ts";

const addon = `${packageRoot()}/build/Release/sandbox/hone_sandbox.node`;
const filter = computingFilter()?.toString("hex");

/** The job is JavaScript: its result is printed, and what it throws becomes its error. */
const server = new Zygote({
  command: process.execPath,
  args: [
    "--v8-pool-size=1",
    "--single-threaded-gc",
    "-e",
    `const loaded = { exports: {} };
process.dlopen(loaded, ${JSON.stringify(addon)});
const fs = require("fs"), net = require("net"), processes = require("child_process"), { Worker } = require("worker_threads");
loaded.exports.serve(Buffer.from("${filter}", "hex"), 30);
let status = 0;
try {
  fs.writeSync(1, String(eval(fs.readFileSync(0, "utf8"))));
} catch (error) {
  status = 3;
  fs.writeSync(2, String(error.message));
}
loaded.exports.end(status);`,
  ],
});
const RUN: Omit<ZygoteRun, "job"> = {
  wallMs: 5000,
  cpuSeconds: 6,
  memoryBytes: 1 << 28,
  outputBytes: 1 << 20,
  stderrBytes: 1 << 16,
};

async function run(job: string, limits: Partial<ZygoteRun> = {}) {
  const end = await server.run({ ...RUN, ...limits, job: Buffer.from(job) });
  const [stdout, stderr] = [1, 2].map((fd) => end.written.get(fd)!.toString());
  return { end: end.end, status: end.status, stdout, stderr };
}

describe.skipIf(!existsSync(addon) || filter === undefined)("the process of a run", () => {
  let connections = 0;
  const listener = createServer(() => {
    connections += 1;
  });
  beforeAll(() => new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve)));
  afterAll(() => void listener.close());

  test("computes", async () => {
    expect(await run("[3, 1, 2].sort().join()")).toMatchObject({ end: "exited", status: 0, stdout: "1,2,3" });
  });

  test.each([
    ["read a file", "fs.readFileSync('/etc/passwd', 'utf8')", "EPERM"],
    ["write one", "fs.writeFileSync('hone-escaped', '')", "EPERM"],
    ["list a folder", "fs.readdirSync('/')", "EPERM"],
    ["signal the server", "process.kill(process.ppid, 9)", "EPERM"],
    ["signal itself", "process.kill(process.pid, 9)", "EPERM"],
    [
      "load an addon",
      "process.dlopen({ exports: {} }, '/usr/lib/x86_64-linux-gnu/libm.so.6')",
      "Operation not permitted",
    ],
    ["go elsewhere", "process.chdir('/')", "EPERM"],
  ])("cannot %s", async (_, job, message) => {
    const { status, stdout, stderr } = await run(job);
    expect([status, stdout]).toEqual([3, ""]);
    expect(stderr).toContain(message);
  });

  test.each([
    ["start a program", "processes.spawnSync('/bin/true').status === 0", "false"],
    ["start a thread", "new Worker('', { eval: true })", ""],
  ])("cannot %s", async (_, job, printed) => {
    expect((await run(job)).stdout).toBe(printed);
  });

  test("cannot connect", async () => {
    const { port } = listener.address() as AddressInfo;
    await run(`net.connect(${port}, '127.0.0.1').write('x')`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(connections).toBe(0);
  });

  test("has no descriptor of another's: those beside its own lead nowhere", async () => {
    const job =
      "Array.from({ length: 500 }, (_, fd) => { try { return fd < 4 ? 'own' : fs.readSync(fd, Buffer.alloc(1)); } catch (e) { return e.code; } }).join()";
    const { stdout } = await run(job);
    expect(new Set(stdout!.split(","))).toEqual(new Set(["own", "0", "EBADF"]));
  });

  test("finds nothing that another left", async () => {
    expect((await run("globalThis.left = 1")).stdout).toBe("1");
    expect((await run("typeof globalThis.left")).stdout).toBe("undefined");
  });

  test("is limited in time, output and memory", async () => {
    expect((await run("for (;;);", { wallMs: 300 })).end).toBe("too-slow");
    expect((await run("'x'.repeat(101)", { outputBytes: 100 })).end).toBe("too-much-output");
    expect((await run("'x'.repeat(100)", { outputBytes: 100 })).end).toBe("exited");
    const hungry =
      "const all = []; for (let i = 0; i < 12; i++) all.push(Buffer.alloc(1 << 25, 1)); all.length";
    expect(await run(hungry, { memoryBytes: 1 << 26 })).not.toMatchObject({ status: 0 });
    expect(await run(hungry, { memoryBytes: 2 ** 33 })).toMatchObject({ status: 0, stdout: "12" });
  });

  test("runs beside others, each with its own job", async () => {
    const ends = await Promise.all(Array.from({ length: 20 }, (_, i) => run(`${i} * ${i}`)));
    expect(ends.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 20 }, (_, i) => String(i * i)));
  });

  test("takes a job and gives results of megabytes", async () => {
    const job = `"${"x".repeat(3 << 20)}" + "y"`;
    const { end, stdout } = await run(job, { outputBytes: 4 << 20 });
    expect([end, stdout!.length]).toEqual(["exited", (3 << 20) + 1]);
  });
});

test("the script loads the addon, closes what leads to the host and only then serves", () => {
  const [dlopen, harden, serve] = ["process.dlopen(", "\nharden();", "serve(Buffer"].map((text) =>
    CHILD.indexOf(text),
  );
  expect(dlopen! > 0 && dlopen! < harden! && harden! < serve!).toBe(true);
});
