// Tests the requests to the server; test/contract/python-sandboxes.test.ts tests what every driver does.
import { existsSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { SandboxFusion } from "../../lib/sandbox/sandboxfusion.ts";
import { LIMITS } from "../fixtures/python-sandboxes.ts";
import { StandInServer } from "../fixtures/sandboxfusion-server.ts";

const server = new StandInServer();
const url = await server.listen();
afterAll(() => server[Symbol.asyncDispose]());
const sandbox = new SandboxFusion(`${url}/`);
const program = { source: "print(input())", stdin: "5\n", dialect: "script" } as const;

test("without an address, or without an answer, the driver is not usable", async () => {
  expect(await new SandboxFusion(undefined).probe()).toEqual({
    usable: false,
    why: "HONE_SANDBOX_URL is not set",
  });
  const silent = await new SandboxFusion("http://127.0.0.1:1").probe();
  expect(silent).toMatchObject({ usable: false, why: expect.stringContaining("does not answer") });
});

describe.skipIf(!existsSync("/usr/bin/python3"))("a server", () => {
  test("is tried out with a program", async () => {
    expect(await sandbox.probe()).toMatchObject({
      usable: true,
      what: expect.stringContaining(`${url}, python 3.`),
    });
  });

  test("is sent the program, its input and its limits, and asked for the report", async () => {
    server.requests.length = 0;
    expect(await sandbox.run(program, { ...LIMITS, wallMs: 2500, memoryBytes: 256 << 20 })).toEqual({
      end: "finished",
      detail: "",
      stdout: "5\n",
      stderr: "",
      value: undefined,
      spentMs: expect.any(Number),
    });
    expect(server.requests).toEqual([
      {
        code: expect.stringContaining("hone_run(job, report)"),
        language: "python",
        stdin: "5\n",
        compile_timeout: 2.5,
        run_timeout: 2.5,
        memory_limit_MB: 256,
        files: {},
        fetch_files: ["hone-report.bin"],
      },
    ]);
  });

  test("that runs no program is told of once, with what it said", async () => {
    server.answers.push({ status: 200, body: '{"status": "SandboxError", "message": "no disk"}' });
    const why = `${url}: status SandboxError: no disk`;
    expect(await new SandboxFusion(url).probe()).toEqual({ usable: false, why });
  });

  test("cannot be told by a program that the sandbox is broken", async () => {
    const source = "import os\nos.remove('hone-report.bin')";
    expect(await sandbox.run({ ...program, source }, LIMITS)).toMatchObject({
      end: "failed",
      detail: "removed its report",
    });
  });
});

test.each([
  ["answers with a fault", 500, "oops", "HTTP 500"],
  ["answers no JSON", 200, "oops", "JSON"],
  ["answers something else", 200, '{"ok": true}', "status"],
  ["says that its sandbox failed", 200, '{"status": "SandboxError", "message": "no cgroup"}', "no cgroup"],
  ["ran nothing", 200, '{"status": "Failed", "message": "x", "run_result": null}', "status Failed"],
])("a server that %s is our fault", async (_, status, body, message) => {
  server.answers.push({ status, body });
  await expect(sandbox.run(program, LIMITS)).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringContaining(message),
  });
});

test("a server's word for too slow is taken, whatever else it says", async () => {
  const run_result = { status: "TimeLimitExceeded", stdout: "a", stderr: "", return_code: null };
  server.answers.push({ status: 200, body: JSON.stringify({ status: "Failed", message: "", run_result }) });
  expect(await sandbox.run(program, LIMITS)).toMatchObject({ end: "too-slow", stdout: "a" });
});

test("a request can be called off", async () => {
  const running = sandbox.run(program, LIMITS, AbortSignal.abort());
  await expect(running).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
});
