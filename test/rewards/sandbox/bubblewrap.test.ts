// What every driver does is in test/contract/python-sandboxes.test.ts, hacks are in test/rewards/code/code.test.ts.
import { describe, expect, test } from "vitest";
import { BubblewrapSandbox } from "../../../lib/rewards/sandbox/bubblewrap.ts";
import type { PythonLimits } from "../../../lib/rewards/sandbox/python-sandbox.ts";
import { bubblewrap, hasBubblewrap, LIMITS, leftBehind } from "../../fixtures/python-sandboxes.ts";

const run = (source: string, limits: Partial<PythonLimits> = {}, signal?: AbortSignal) =>
  bubblewrap.run({ source, stdin: "", dialect: "script" }, { ...LIMITS, ...limits }, signal);

test("without the program the driver says what to install, and running is our fault", async () => {
  const missing = new BubblewrapSandbox("no-such-bwrap");
  const readiness = await missing.probe();
  expect(readiness).toMatchObject({ usable: false });
  const running = missing.run({ source: "", stdin: "", dialect: "script" }, LIMITS);
  await expect(running).rejects.toMatchObject({ code: "HONE_ERR_VERIFIER" });
});

test.skipIf(!hasBubblewrap)("a program that only pretends to be bubblewrap is found out", async () => {
  expect(await new BubblewrapSandbox("true").probe()).toMatchObject({
    usable: false,
    why: expect.stringContaining("Python was not reached"),
  });
});

describe.skipIf(!hasBubblewrap)("a program", () => {
  test("is nobody, alone, and sees nothing of the host but its system", async () => {
    const source = `import os, socket
print(os.getuid(), os.getgid(), os.getcwd(), sorted(os.listdir("/")), sorted(os.listdir("/dev")), os.listdir("."))
print(sorted(os.environ), socket.gethostname(), os.getpid() < 10)
print(os.path.exists("/etc"), os.path.exists("/proc"), os.path.exists("/sys"))
fds = []
for fd in range(64):
    try:
        os.fstat(fd)
        fds.append(fd)
    except OSError:
        pass
print(fds)`;
    expect((await run(source)).stdout.split("\n")).toEqual([
      "65534 65534 /tmp ['bin', 'dev', 'lib', 'lib64', 'tmp', 'usr'] ['null', 'urandom'] []",
      "['HOME', 'LC_CTYPE', 'PWD', 'PYTHONHASHSEED'] sandbox True",
      "False False False",
      "[0, 1, 2, 3]",
      "",
    ]);
  });

  test("has hard limits", async () => {
    const source = `import resource
for name in ("AS", "CPU", "FSIZE", "NOFILE", "NPROC", "CORE"):
    print(*resource.getrlimit(getattr(resource, "RLIMIT_" + name)))`;
    const limits = { memoryBytes: 300 << 20, wallMs: 2500 };
    expect((await run(source, limits)).stdout).toBe(
      `${300 << 20} ${300 << 20}\n4 4\n${16 << 20} ${16 << 20}\n64 64\n64 64\n0 0\n`,
    );
  });

  test("hashes text the same way each time", async () => {
    const texts = await Promise.all([run("print(hash('a'))"), run("print(hash('a'))")]);
    expect(texts[0]!.stdout).toBe(texts[1]!.stdout);
  });

  test("ends on time, and nothing of it stays", async () => {
    const started = performance.now();
    const { end } = await run("while True: pass", { wallMs: 700, memoryBytes: LIMITS.memoryBytes + 1 });
    expect(end).toBe("too-slow");
    expect(performance.now() - started).toBeLessThan(15_000); // 800; the rest is for a busy machine
    expect(await leftBehind(LIMITS.memoryBytes + 1)).toEqual([]);
  });

  test("can be called off", async () => {
    const limits = { memoryBytes: LIMITS.memoryBytes + 2 };
    const running = run("while True: pass", limits, AbortSignal.timeout(200));
    await expect(running).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
    expect(await leftBehind(limits.memoryBytes)).toEqual([]);
  });

  test("called off at any moment of its start leaves nothing", async () => {
    const limits = { memoryBytes: LIMITS.memoryBytes + 3 };
    for (let ms = 0; ms < 40; ms++) {
      const controller = new AbortController();
      const running = run("while True: pass", limits, controller.signal).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, ms / 2));
      controller.abort();
      await running;
    }
    expect(await leftBehind(limits.memoryBytes)).toEqual([]);
  });

  test("that is not reached within its time is our fault, not the program's", async () => {
    await expect(run("print(1)", { wallMs: 1 })).rejects.toMatchObject({ code: "HONE_ERR_VERIFIER" });
  });
});
