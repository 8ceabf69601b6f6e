import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PUMP } from "../../lib/sandbox/pump-script.ts";
import { seccompFilter } from "../../lib/sandbox/seccomp.ts";
import { zygoteScript } from "../../lib/sandbox/zygote-script.ts";
import { bubblewrap, hasBubblewrap, LIMITS } from "../fixtures/python-sandboxes.ts";

const run = (source: string, outputBytes: number, stdin = "") =>
  bubblewrap.run({ source, stdin, dialect: "script" }, { ...LIMITS, outputBytes });

describe.skipIf(!hasBubblewrap)("the pump", () => {
  test("lets a program write exactly what it may, and not one byte more", { timeout: 120_000 }, async () => {
    const source = (count: number) => `import sys\nsys.stdout.write("x" * ${count})`;
    for (const cap of [1000, 1 << 16, 200_000]) {
      expect(await run(source(cap), cap)).toMatchObject({ end: "finished", stdout: "x".repeat(cap) });
      expect(await run(source(cap + 1), cap)).toMatchObject({
        end: "too-much-output",
        stdout: "x".repeat(cap),
      });
    }
  });

  test("keeps apart what goes to and comes from many programs at once", { timeout: 120_000 }, async () => {
    const echo = "import sys\nsys.stdout.write(sys.stdin.read())";
    const inputs = Array.from({ length: 6 }, (_, i) => String(i).repeat(300_000 + i));
    const runs = await Promise.all(inputs.map((input) => run(echo, 1 << 20, input)));
    expect(runs.every(({ stdout }, i) => stdout === inputs[i])).toBe(true);
  });
});

const PYTHON = "/usr/bin/python3"; // the Python that the sandbox starts

test.skipIf(!existsSync(PYTHON))(
  "adds nothing to what the zygote said, where that one ended before a request came",
  () => {
    const withoutZygote = `
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
theirs.close()
HonePump(ours).run()`;
    const script = zygoteScript(seccompFilter("x64")!).replace(/hone_main\(\)\n$/, withoutZygote);
    const request = Buffer.alloc(32); // a request to run, without its job
    const { status, stderr } = spawnSync(PYTHON, ["-c", script], { input: request, encoding: "utf8" });
    expect([status, stderr]).toEqual([1, ""]);
  },
);

test("what programs write is copied, not read", () => {
  expect(PUMP).not.toMatch(/loads|eval|exec|decode|import/);
});
