// Tests what programs inherit from the zygote; bubblewrap.test.ts tests what they see of each other.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { STARVED_TIMES } from "../../lib/sandbox/python-sandbox.ts";
import { seccompFilter } from "../../lib/sandbox/seccomp.ts";
import { HOST_PROC_FD, zygoteScript } from "../../lib/sandbox/zygote-script.ts";
import { bubblewrap, hasBubblewrap, LIMITS, programsRunning } from "../fixtures/python-sandboxes.ts";

const MARKER = "N3v3rS33nBef0re".repeat(2);

/**
 * Counts occurrences of the marker in 64 MiB around small objects and around large ones. It stores the marker shifted
 * by one, so that it does not find itself.
 */
const SCAN = `import ctypes, os
libc = ctypes.CDLL(None)
libc.write.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
shift = bytes((i + 1) % 256 for i in range(256))
shifted = ${JSON.stringify([...MARKER].map((char) => char.charCodeAt(0) + 1))}
wanted = bytes(shifted)
ours, theirs = os.pipe()
found = 0
large = bytes(4000)
pages = set()
for one in (shifted, large):
    around = id(one) >> 12
    pages.update(range(around - (32 << 8), around + (32 << 8)))
for page in pages:
    if libc.write(theirs, page << 12, 4096) == 4096:
        found += os.read(ours, 4096).translate(shift).count(wanted)
print(found)`;

const run = (source: string, stdin = "") => bubblewrap.run({ source, stdin, dialect: "script" }, LIMITS);

describe.skipIf(!hasBubblewrap)("the memory of a program", () => {
  test("holds nothing of those before it and beside it", { timeout: 120_000 }, async () => {
    const own = await run(`${SCAN}\n# ${MARKER}`);
    expect(Number(own.stdout)).toBeGreaterThan(0);
    await run(`x = "${MARKER}"\nprint(x * 1000, input())`, MARKER.repeat(1000));
    const beside = run(`import time\ntime.sleep(1)\nprint("${MARKER}")`, MARKER.repeat(1000));
    await programsRunning(1);
    expect((await run(SCAN)).stdout).toBe("0\n");
    expect((await beside).stdout).toBe(`${MARKER}\n`);
  });
});

/** Runs the script's definitions and then `code`, outside of any sandbox. */
function define(code: string): string {
  const script = zygoteScript(seccompFilter("x64")!).replace(/hone_main\(\)\n$/, code);
  return execFileSync(PYTHON, ["-c", script], { encoding: "utf8" });
}

const PYTHON = "/usr/bin/python3"; // the Python that the sandbox starts
const hasPython = existsSync(PYTHON);

/**
 * Checks once a program with a limit of two seconds that began `ago` seconds ago. `looks`: seconds it waited, seconds
 * it ran, and whether it is runnable now.
 */
const looked = (ago: number, ...looks: readonly (readonly [number, number, boolean])[]) =>
  define(`
zygote, killed, looks = HoneZygote(None), [], ${JSON.stringify(looks).replaceAll("true", "True").replaceAll("false", "False")}
zygote.times, zygote.kill = (lambda pid: looks.pop(0)), killed.extend
now = zygote.looked
program = {"since": now - ${ago}, "wall": 2, "due": now, "pid": 0, "ran": None, "slow": False}
zygote.programs[0] = program
while looks and not killed:
    program["due"] = now
    zygote.keep_time()
print(("too-slow" if program["slow"] else "lost") if killed else "goes on")`).trim();

describe.skipIf(!hasPython)("a program", () => {
  const END = STARVED_TIMES * 2;
  test("that sleeps is too slow when its limit has passed", () => {
    expect(looked(2.5, [0.1, 0.1, false])).toBe("too-slow");
    expect(looked(2.5, [1, 0.1, false])).toBe("goes on");
  });

  test("that could run is too slow once it has run since the look before, when its last wait is known", () => {
    expect(looked(2.5, [0.1, 0.1, true])).toBe("goes on");
    expect(looked(2.5, [0.1, 0.1, true], [0.1, 0.1, true])).toBe("goes on");
    expect(looked(2.5, [0.1, 0.1, true], [0.1, 0.2, true])).toBe("too-slow");
    expect(looked(2.5, [0.1, 0.1, true], [1, 0.2, true])).toBe("goes on");
    // Time that it ran before the limit does not count against a wait that continues.
    expect(looked(2.5, [1, 0.1, true], [0.1, 0.2, true])).toBe("goes on");
  });

  test("is ready while it runs, which is counted, and not while it sleeps", () => {
    const code = `
os.dup2(os.open("/proc", os.O_RDONLY), ${HOST_PROC_FD})
zygote, begun = HoneZygote(None), time.process_time()
_, before, own = zygote.times_of("self/task")
while time.process_time() < begun + 0.05:
    pass
_, after, _ = zygote.times_of("self/task")
child = os.fork()
if child == 0:
    time.sleep(60)
until = time.monotonic() + 30
while zygote.times_of("%d/task" % child)[2] and time.monotonic() < until:
    time.sleep(0.01)
print(own, after - before > 0.02, zygote.times_of("%d/task" % child)[2])
os.kill(child, 9)`;
    expect(define(code)).toBe("True True False\n");
  });

  test("is not charged for a while in which everything stood still", () => {
    const code = `
zygote, own, begun = HoneZygote(None), os.getpid(), time.monotonic()
program = zygote.programs[0] = {"since": begun, "due": begun + 60}
if os.fork() == 0:
    os.kill(own, signal.SIGSTOP)
    time.sleep(1)
    os.kill(own, signal.SIGCONT)
    os._exit(0)
while program["since"] < begun + 0.8 and time.monotonic() < begun + 60:
    zygote.wait()
print(program["since"] - begun > 0.8, round(program["due"] - program["since"], 3))`;
    expect(define(code)).toBe("True 60.0\n");
  });

  test("is not charged for one that came since the last look", () => {
    const code = `
zygote, killed, begun = HoneZygote(None), [], time.monotonic()
zygote.times, zygote.kill = (lambda pid: (0, 0, False)), killed.extend
program = zygote.programs[0] = {"since": begun, "wall": 0.5, "due": begun + 0.5, "pid": 0, "ran": None, "slow": False}
time.sleep(1)
zygote.keep_time()
print(killed, zygote.spent(program) < 0.5)`;
    expect(define(code)).toBe("[] True\n");
  });

  test("that began after a while in which everything stood still has no time in hand", () => {
    const code = `
zygote, begun = HoneZygote(None), time.monotonic()
zygote.looked = begun - 10
program = zygote.programs[0] = {"since": begun, "due": begun + 60}
zygote.wait()
print(begun < program["since"] <= time.monotonic(), round(program["due"] - program["since"], 3))`;
    expect(define(code)).toBe("True 60.0\n");
  });

  test("that was ended as too slow stays so, however long it waits for a processor to end", () => {
    const ended = define(`
zygote, killed, looks = HoneZygote(None), [], [(0.1, 0.1, False), (0.1, 0.1, True)]
zygote.times, zygote.kill = (lambda pid: looks.pop(0)), killed.extend
now = zygote.looked
program = zygote.programs[0] = {"since": now - 2.5, "wall": 2, "due": now, "pid": 0, "ran": None, "slow": False}
zygote.keep_time()
program["since"], program["due"], program["ran"] = now - ${END}, now, None
zygote.keep_time()
print(len(killed), program["slow"])`).trim();
    expect(ended).toBe("2 True");
  });

  test("that waits without end is lost", () => {
    expect(looked(END, [END - 1, 0.1, true])).toBe("lost");
    expect(looked(END, [0.1, 0.1, true])).toBe("lost");
    expect(looked(END, [0.1, 0.1, false])).toBe("too-slow");
    expect(looked(0.95 * END, [END - 3, 0.1, true])).toBe("goes on");
  });
});

test("the script holds the filter and starts the pump last", () => {
  const filter = seccompFilter("x64")!;
  const script = zygoteScript(filter);
  expect(script).toContain(filter.toString("hex"));
  expect(script.trimEnd().split("\n").at(-1)).toBe("hone_main()");
});
