// test/contract/python-sandboxes.test.ts tests what every driver does, test/domains/code/verify.test.ts tests attacks.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { BubblewrapSandbox } from "../../lib/sandbox/bubblewrap.ts";
import { type PythonLimits, STARVED_TIMES } from "../../lib/sandbox/python-sandbox.ts";
import {
  bubblewrap,
  descendants,
  hasBubblewrap,
  LIMITS,
  programsLeft,
  programsRunning,
} from "../fixtures/python-sandboxes.ts";
import { patient } from "../patience.ts";

// Tests may take longer on a busy machine; programs have their own limits.
vi.setConfig({ testTimeout: 120_000 });

const run = (source: string, limits: Partial<PythonLimits> = {}, signal?: AbortSignal, stdin = "") =>
  bubblewrap.run({ source, stdin, dialect: "script" }, { ...LIMITS, ...limits }, signal);

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
    why: expect.stringContaining("Python was not reached: true ended with exit code 0"),
  });
});

test.skipIf(!hasBubblewrap)(
  "a zygote that cannot start says why: a /dev/null that is an ordinary file",
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "hone-bwrap-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const [file, command] = [join(dir, "null"), join(dir, "bwrap")];
    writeFileSync(file, "", { mode: 0o444 });
    const swapped = `args=(); for arg in "$@"; do [ "$last/$arg" = --dev-bind//dev/null ] && args+=("${file}") || args+=("$arg"); last=$arg; done`;
    writeFileSync(command, `#!/bin/bash\n${swapped}\nexec bwrap "\${args[@]}"\n`, { mode: 0o755 });
    chmodSync(dir, 0o755); // lets other users enter the folder
    expect(await new BubblewrapSandbox(command).probe()).toEqual({
      usable: false,
      why: "PermissionError: [Errno 13] Permission denied: '/dev/null'",
    });
  },
);

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
      "65534 65534 /tmp ['bin', 'dev', 'lib', 'lib64', 'tmp', 'usr'] ['null', 'stdin', 'urandom'] []",
      "['HOME', 'LC_CTYPE', 'PWD', 'PYTHONHASHSEED'] sandbox True",
      "False False False",
      "[0, 1, 2, 3]",
      "",
    ]);
  });

  test("has no power left and none to come", async () => {
    const source = `import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(24)
print(c.capget(b"\\x22\\x05\\x08\\x20\\0\\0\\0\\0", buffer), set(buffer.raw), c.prctl(39, 0, 0, 0, 0), c.prctl(21, 0, 0, 0, 0))`;
    expect((await run(source)).stdout).toBe("0 {0} 1 2\n");
  });

  test("has hard limits", async () => {
    const source = `import resource
for name in ("AS", "CPU", "FSIZE", "NOFILE", "NPROC", "CORE"):
    print(*resource.getrlimit(getattr(resource, "RLIMIT_" + name)))`;
    const limits = { memoryBytes: 300 << 20, wallMs: 2500 };
    expect((await run(source, limits)).stdout).toBe(
      `${300 << 20} ${300 << 20}\n25 25\n${16 << 20} ${16 << 20}\n64 64\n64 64\n0 0\n`,
    );
  });

  test("hashes text the same way each time, and draws other random numbers", async () => {
    const source = "import random\nprint(hash('a'), file=sys.stderr)\nprint(random.random())";
    const [one, two] = await Promise.all([run(source), run(source)]);
    expect(one.stderr).toBe(two.stderr);
    expect(one.stdout).not.toBe(two.stdout);
  });

  test("reads its input by name, and in one piece of any size", async () => {
    const source = "print(len(open('/dev/stdin').read()), input())\nprint(os.listdir('.'))";
    const stdin = `first\n${"x".repeat(3 << 20)}\n`;
    expect((await run(`import os\n${source}`, {}, undefined, stdin)).stdout).toBe(
      `${stdin.length} first\n[]\n`,
    );
    expect((await run("print(repr(open('/dev/stdin').read()))")).stdout).toBe("''\n");
  });

  test("may have 64 threads, two programs at a time", async () => {
    const source = `import threading
barrier = threading.Barrier(64)
threads = [threading.Thread(target=barrier.wait) for _ in range(63)]
for thread in threads: thread.start()
barrier.wait()
print("met")`;
    const limits = { wallMs: 10_000, memoryBytes: 1 << 30 };
    const runs = await Promise.all([run(source, limits), run(source, limits)]);
    expect(runs.map(({ stdout }) => stdout)).toEqual(["met\n", "met\n"]);
  });

  test("ends as Python ends: threads, exit functions, finalisers, what was not flushed", async () => {
    const source = `import atexit, threading, time, os
class Last:
    def __del__(self):
        print("finaliser")
last = Last()
unflushed = os.fdopen(os.dup(1), "w")
unflushed.write("unflushed\\n")
atexit.register(print, "exit function")
threading.Thread(target=lambda: (time.sleep(0.05), print("thread"))).start()
print("end")`;
    const { stdout, end } = await run(source);
    expect([end, stdout.split("\n").sort()]).toEqual([
      "finished",
      ["", "end", "exit function", "finaliser", "thread", "unflushed"],
    ]);
  });

  test("ends on time, and nothing of it stays", async () => {
    for (const source of ["while True: pass", "import time\ntime.sleep(100)"]) {
      const { end, spentMs } = await run(source, { wallMs: 700 });
      expect(end).toBe("too-slow");
      expect(spentMs).toBeGreaterThan(650);
      expect(spentMs).toBeLessThan(700 + patient(100));
    }
    expect(await programsLeft()).toEqual([]);
  });

  test("that waits for a processor is not too slow for that", async () => {
    // Each program takes 350 ms of processor time, below its limit of 1,000 ms; all eight together take longer on two
    // cores.
    const source = "import time\nwhile time.process_time() < 0.35: pass\nprint('done')";
    const begun = performance.now();
    const runs = await Promise.allSettled(Array.from({ length: 8 }, () => run(source, { wallMs: 1000 })));
    const ends = runs.map((done) => (done.status === "fulfilled" ? done.value.stdout : done.reason.code));
    // If other processes leave it less than a tenth of a processor, the sandbox gives up without a verdict.
    const isStarved = performance.now() - begun > 1000 * STARVED_TIMES;
    const isRight = (end: string) => end === "done\n" || (isStarved && end === "HONE_ERR_VERIFIER");
    expect(ends.filter((end) => !isRight(end))).toEqual([]);
  });

  test("can be called off", async () => {
    const running = run("while True: pass", {}, AbortSignal.timeout(200));
    await expect(running).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
    expect(await programsLeft()).toEqual([]);
  });

  test("called off at any moment of its start leaves nothing", async () => {
    for (let ms = 0; ms < 40; ms++) {
      const controller = new AbortController();
      const running = run("while True: pass", {}, controller.signal).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, ms / 4));
      controller.abort();
      await running;
    }
    expect(await programsLeft()).toEqual([]);
  });
});

/** Runs two programs at the same time; the second looks after the first has acted. */
async function together(first: string, second: string) {
  const acting = run(`${first}\nimport time\ntime.sleep(1.5)`);
  await programsRunning(1);
  const { stdout } = await run(`import time\ntime.sleep(0.4)\n${second}`);
  await acting;
  return stdout.trim();
}

describe.skipIf(!hasBubblewrap)("two programs at the same time have no channel by", () => {
  const C = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n";
  test.each([
    [
      "a lock on a file of the system",
      "import fcntl\nf = open('/usr/bin/env', 'rb')\nfcntl.flock(f, fcntl.LOCK_EX)",
      "import fcntl\nf = open('/usr/bin/env', 'rb')\nfcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\nprint('free')",
      "free",
    ],
    [
      "a record lock on a file of the system",
      "import fcntl\nf = open('/usr/bin/env', 'rb')\nfcntl.lockf(f, fcntl.LOCK_SH)",
      "import fcntl, struct\nf = open('/usr/bin/env', 'rb')\nasked = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)\nprint(struct.unpack('hhqqi4x', fcntl.fcntl(f, fcntl.F_GETLK, asked))[0] == fcntl.F_UNLCK)",
      "True",
    ],
    [
      "slots of asynchronous input and output",
      `${C}context = ctypes.c_ulong()\nlibc.syscall(206, 60000, ctypes.byref(context))`,
      `${C}context = ctypes.c_ulong()\nprint(libc.syscall(206, 1, ctypes.byref(context)), ctypes.get_errno())`,
      "-1 1",
    ],
    [
      "a futex on a page of a file",
      `${C}address = ctypes.cast(libc.printf, ctypes.c_void_p)\nlibc.syscall(202, address, 0, ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32))[0], None)`,
      `${C}address = ctypes.cast(libc.printf, ctypes.c_void_p)\nprint(libc.syscall(202, address, 1, 1), ctypes.get_errno())`,
      "-1 11",
    ],
    [
      "a name of a socket",
      "import socket\na, b = socket.socketpair()\ntry:\n    a.bind('\\0name')\nexcept OSError:\n    pass",
      "import socket\na, b = socket.socketpair()\ntry:\n    a.bind('\\0name')\nexcept PermissionError:\n    print('denied')",
      "denied",
    ],
    [
      "sockets that carry datagrams",
      "",
      "import socket\ntry:\n    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\nexcept PermissionError:\n    print('denied')",
      "denied",
    ],
    ["files", "open('left', 'w')", "import os\nprint(os.listdir('.'))", "[]"],
    [
      "processes",
      "",
      "import os\nseen = []\nfor pid in range(2, 300):\n    try:\n        os.kill(pid, 0)\n        seen.append(pid)\n    except OSError:\n        pass\nprint(seen)",
      "[]",
    ],
  ])("%s", async (_, first, second, expected) => {
    expect(await together(first, second)).toBe(expected);
  });
});

describe.skipIf(!hasBubblewrap)("killed from outside", () => {
  const kill = (pid: number) => {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // the process ended together with its parent
    }
  };
  const slow = "import time\ntime.sleep(0.7)\nprint('done')";
  const killing = async (choose: (all: ReturnType<typeof descendants>) => number[]) => {
    const sandbox = new BubblewrapSandbox();
    const before = new Set(descendants().map(({ pid }) => pid));
    await sandbox.probe();
    const running = sandbox.run({ source: slow, stdin: "", dialect: "script" }, LIMITS);
    const own = (await programsRunning(1)).filter(({ pid }) => !before.has(pid));
    for (const pid of choose(own)) kill(pid);
    return running;
  };

  test.each([
    ["the program's process", (own: ReturnType<typeof descendants>) => own.filter(({ depth }) => depth > 1)],
    ["pump and zygote", (own: ReturnType<typeof descendants>) => own.filter(({ depth }) => depth === 1)],
    ["bubblewrap", (own: ReturnType<typeof descendants>) => own.filter(({ depth }) => depth === 0)],
  ])("%s is not the program's doing: it runs again", async (_, choose) => {
    const run = await killing((own) => choose(own).map(({ pid }) => pid));
    expect(run).toMatchObject({ end: "finished", stdout: "done\n" });
  });

  test("each time it is our fault, and no verdict", async () => {
    const sandbox = new BubblewrapSandbox();
    await sandbox.probe();
    let over = false;
    const running = sandbox.run({ source: slow, stdin: "", dialect: "script" }, LIMITS).finally(() => {
      over = true;
    });
    const outcome = expect(running).rejects.toMatchObject({ code: "HONE_ERR_VERIFIER" });
    while (!over) {
      for (const { pid, depth } of descendants()) if (depth > 1) kill(pid);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await outcome;
  });

  test.each([
    ["kills itself", "import os\nos.kill(os.getpid(), 9)", "killed: forbidden system call"],
    [
      "lets a timer kill it",
      "import ctypes\nlibc = ctypes.CDLL(None)\nprint(libc.timer_create(1, b'\\0' * 8 + b'\\x09' + b'\\0' * 55, ctypes.create_string_buffer(8)))",
      "",
    ],
    [
      "lowers its limit of processor time",
      "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
      "ValueError: not allowed to raise maximum limit",
    ],
    ["runs out of memory", "x = []\nwhile True: x.append(bytearray(10**7))", "MemoryError"],
  ])("is not what becomes of a program that %s", async (_, source, detail) => {
    const { end, detail: told, stdout } = await run(source, { memoryBytes: 2 ** 28 });
    expect([told, stdout.trim()]).toEqual([detail, detail === "" ? "-1" : ""]);
    expect(end).toBe(detail === "" ? "finished" : "failed");
  });

  test("by a polite signal it goes on", async () => {
    const running = run(slow);
    for (const { pid, depth } of await programsRunning(1)) if (depth > 0) process.kill(pid, "SIGTERM");
    expect(await running).toMatchObject({ end: "finished", stdout: "done\n" });
  });
});
