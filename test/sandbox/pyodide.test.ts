// Tests attacks, and the connection to the host. test/contract/python-sandboxes.test.ts tests what every driver does.
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codeVerifier } from "../../lib/domains/code/verify.ts";
import { STAR_MODULES } from "../../lib/sandbox/preamble.ts";
import { PyodideSandbox } from "../../lib/sandbox/pyodide.ts";
import { HACKS, HONEST, secret } from "../fixtures/code-hacks.ts";
import { descendants, LIMITS, MEMORY_MB, starvedMs } from "../fixtures/python-sandboxes.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";

/** The driver's processes: servers, and those of programs. */
const all = () =>
  descendants().filter(({ command }) => command.trimEnd().endsWith(`import ${STAR_MODULES.join(", ")}`));
/** Processes of test files that ran earlier in this process. */
const elsewhere = new Set(all().map(({ pid }) => pid));
const servers = () => all().filter(({ pid }) => !elsewhere.has(pid));

const sandbox = new PyodideSandbox();
const readiness = await sandbox.probe();
const code = codeVerifier(async () => sandbox);

const run = (source: string) =>
  sandbox.run({ source, stdin: "", dialect: "script" }, { ...LIMITS, wallMs: 15_000 });

describe.skipIf(!readiness.usable)("the wasm driver", () => {
  const listener = createServer();
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    port = (listener.address() as AddressInfo).port;
    process.env["HONE_TEST_SECRET"] = "secret";
  });
  afterAll(() => {
    delete process.env["HONE_TEST_SECRET"];
    listener.close();
  });

  /** Each program prints ESCAPED if it reaches the host. */
  test.each([
    ["by the objects of JavaScript", "import js\njs.Object.constructor('return process')().version"],
    [
      "by the interface of Pyodide",
      "import pyodide_js\npyodide_js.mountNodeFS('/host', '/')\nopen('/host/etc/passwd').read()",
    ],
    ["by running JavaScript", "from pyodide.code import run_js\nrun_js('process.version')"],
    [
      "by the constructor of an object of JavaScript",
      "import _pyodide_core, gc\nproxies = [o for o in gc.get_objects() if 'JsProxy' in type(o).__name__]\nproxies[0].constructor.constructor('return process')().version",
    ],
    ["by the file system of Node", "open('/etc/passwd').read()"],
    ["by a shell", "import os\nassert os.system('true') == 0"],
    ["by the environment", "import os\nos.environ['HONE_TEST_SECRET']"],
    [
      "by a socket",
      "import socket\ns = socket.socket()\ns.settimeout(1)\ns.connect(('127.0.0.1', PORT))\ns.send(b'x')",
    ],
  ])("keeps a program from the host: %s", async (_, source) => {
    const { stdout } = await run(`${source.replace("PORT", String(port))}\nprint("ESCAPED")`);
    expect(stdout).not.toContain("ESCAPED");
  });

  test.each([
    ["a source of 900 KB", `x = "${"y".repeat(900 << 10)}"\nprint(len(x))`, "", "921600\n"],
    ["an input of 3 MB", "import sys\nprint(len(sys.stdin.read()))", "x".repeat(3 << 20), "3145728\n"],
  ])("takes %s", { timeout: 120_000 }, async (_, source, stdin, stdout) => {
    const running = sandbox.run({ source, stdin, dialect: "script" }, { ...LIMITS, wallMs: 15_000 });
    expect(await running).toMatchObject({ end: "finished", stdout });
  });

  test("a start killed from outside is made again, and no verdict", {
    timeout: patient(120_000),
  }, async () => {
    const killing = new PyodideSandbox();
    const others = new Set(servers().map(({ pid }) => pid));
    const probing = killing.probe();
    const kill = setInterval(() => {
      for (const { pid } of servers()) if (!others.has(pid)) process.kill(pid, "SIGKILL");
    }, 50);
    expect((await probing).usable).toBe(false);
    clearInterval(kill);
    expect((await killing.probe()).usable).toBe(true);
  });

  test.runIf(longest)(
    "what is killed from outside while it runs, program or server, is run again",
    async () => {
      const [server] = servers();
      const sleeping = "import time\ntime.sleep(1)\nprint('done')";
      const kill = (victim: () => number | undefined) =>
        new Promise<void>((resolve) => {
          const timer = setInterval(() => {
            const pid = victim();
            if (pid === undefined) return;
            clearInterval(timer);
            process.kill(pid, "SIGKILL");
            resolve();
          }, 5);
        });
      const known = new Set(servers().map(({ pid }) => pid));
      const programs = () => servers().find(({ pid }) => !known.has(pid))?.pid;
      const [first] = await Promise.all([run(sleeping), kill(programs)]);
      expect(first.stdout).toBe("done\n");
      const [second] = await Promise.all([run(sleeping), kill(() => server!.pid)]);
      expect(second.stdout).toBe("done\n");
    },
    patient(60_000),
  );

  /** Endless programs: in the interpreter, in one instruction, in the kernel, and with every interruption caught. */
  const ENDLESS = [
    "while True: pass",
    "import time\ntime.sleep(60)",
    "while True: print(end='')",
    "9 ** 9 ** 9",
    "import re\nre.match('(a*)*b', 'a' * 40)",
    "while True:\n  try:\n    while True: pass\n  except BaseException: pass",
    "x = bytearray(10**8)\nwhile True: x = bytes(x)",
    "class Last:\n  def __del__(self):\n    while True: pass\nLast()",
  ];

  test.runIf(longest)(
    "48 runs that take for ever end at their limit, those of each program within 100 ms, but for a machine's hiccup",
    {
      timeout: patient(120_000),
    },
    async () => {
      const limits = { ...LIMITS, wallMs: 250 };
      const late = new Map(ENDLESS.map((source): [string, number[]] => [source, []]));
      for (const source of Array.from({ length: 6 }, () => ENDLESS).flat()) {
        const pids = servers().map(({ pid }) => pid);
        const [before, begun] = [starvedMs(pids), performance.now()];
        const { end, spentMs } = await sandbox.run({ source, stdin: "", dialect: "script" }, limits);
        // spentMs excludes the program's wait for a processor, but includes the server's until it sees the time-out.
        const waitedMs = starvedMs(pids) - before;
        const elapsedMs = performance.now() - begun;
        expect([source, end, elapsedMs > limits.wallMs, elapsedMs < patient(15_000)]).toEqual([
          source,
          "too-slow",
          true,
          true,
        ]);
        late.get(source)!.push(spentMs - limits.wallMs - waitedMs);
      }
      // the median ignores a machine that stands still for a moment
      const isLate = (each: readonly number[]) => each.toSorted((a, b) => a - b)[3]! > 100;
      expect([...late].filter(([, each]) => isLate(each))).toEqual([]);
    },
  );

  test("nothing of one run is in the next one's memory", async () => {
    await run("import sys, random\nsys.left = random.left = 'here'\nopen('left', 'w').close()");
    const look = "import sys, random, os\nprint(hasattr(sys, 'left'), hasattr(random, 'left'), os.listdir())";
    expect((await run(look)).stdout).toBe("False False ['.report']\n");
  });

  test("a recursion without end fails at once", async () => {
    expect(await run("def f(x): return f(x + 1)\nf(1)")).toMatchObject({ end: "failed" });
  });

  const rows = {
    call: { fn_name: "solve", inputs: [[3]], outputs: [secret(3)] },
    stdin: { inputs: ["3\n"], outputs: [`${secret(3)}\n`] },
  };
  const judge = (source: string, style: "call" | "stdin") => {
    const limits = { wallMs: 15_000, memoryMb: MEMORY_MB };
    const reference = code.parseReference({ input_output: rows[style], limits });
    return code.verify({ text: `\`\`\`python\n${source}\n\`\`\``, finish: "stop" }, reference);
  };

  test.each(["call", "stdin"] as const)("an honest %s passes", async (style) => {
    expect((await judge(HONEST[style], style)).status).toBe("correct");
  });

  /** Attacks whose outcome differs in this sandbox. */
  const HERE = new Set([
    "prints the reference's pass marker and exits",
    "prints the marker when it ends",
    "exits with success inside the call",
    "leaves at once inside the call",
    "equals everything",
    "looks for the expected value in the frames",
    "looks for large numbers in everything that is alive",
    "reads its command line, environment and memory",
    "writes verdicts to every descriptor",
    "forges a report with a value it made up",
    "replaces the serialiser",
    "traces the harness and changes its variables",
    "returns itself inside itself",
    "prints without end",
    "allocates without end",
    "recurses without end",
    "starts threads without end",
    "starts a shell",
    "looks around for answers",
    "aborts",
  ]);

  test.runIf(longest)("no hack passes", { timeout: patient(120_000) }, async () => {
    const hacks = HACKS.filter(({ why }) => HERE.has(why));
    expect(hacks.length).toBe(HERE.size);
    const passed: string[] = [];
    const lane = async () => {
      for (let hack = hacks.pop(); hack !== undefined; hack = hacks.pop()) {
        if ((await judge(hack.source, hack.style)).score > 0) passed.push(hack.why);
      }
    };
    await Promise.all([lane(), lane()]);
    expect(passed).toEqual([]);
  });

  test("keeps no process of a program", async () => {
    await expect.poll(() => servers().length, { timeout: 60_000 }).toBeLessThanOrEqual(2);
  });
});
