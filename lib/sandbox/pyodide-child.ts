/**
 * The server process of the wasm driver, as JavaScript text: it may not read files, so it cannot be loaded from one.
 * Arguments: URL of pyodide.mjs, its folder, the addon, the seccomp filter in hexadecimal, STARVED_TIMES, and the
 * Python definitions used here. Loads Python, runs some programs of ours so that their code paths are compiled,
 * removes everything that reaches the host, and becomes the server of `csrc/sandbox/program_server.h`. The process of
 * a run executes the job of descriptor 0; writes R to descriptor 3 before it reads the program, then the program's
 * reports.
 */
export const CHILD = `
import { closeSync, constants, readSync, writeSync } from "node:fs";
import childProcess from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import module from "node:module";
import net from "node:net";
import tls from "node:tls";
import workers from "node:worker_threads";

const [url, folder, addon, filter, starvedTimes, script] = process.argv.slice(1);
const loaded = { exports: {} };
process.dlopen(loaded, addon);
const { serve, end } = loaded.exports;

function readAll(fd) {
  const parts = [];
  for (;;) {
    const part = Buffer.allocUnsafe(1 << 16);
    const count = readSync(fd, part);
    if (count === 0) break;
    parts.push(part.subarray(0, count));
  }
  closeSync(fd);
  return Buffer.concat(parts);
}

function writeAll(fd, bytes) {
  for (let rest = bytes; rest.length > 0; ) rest = rest.subarray(writeSync(fd, rest));
  return bytes.length;
}

const deny = () => {
  throw new Error("not in the sandbox");
};

/** What reaches the host; what Python needs of Node has been taken by now. */
function harden() {
  net.Socket.prototype.connect = dgram.Socket.prototype.send = dgram.Socket.prototype.bind = deny;
  for (const library of [childProcess, dgram, dns, http, http2, https, net, tls, workers]) {
    for (const name of Object.keys(library)) {
      if (typeof Object.getOwnPropertyDescriptor(library, name).value === "function") library[name] = deny;
    }
  }
  module.syncBuiltinESMExports();
  for (const name of [
    "abort", "binding", "_linkedBinding", "chdir", "dlopen", "exit", "kill", "_kill", "reallyExit", "setegid", "seteuid",
    "setgid", "setgroups", "setuid", "getBuiltinModule", "_debugProcess", "_debugEnd", "_rawDebug", "umask",
  ]) process[name] = deny;
  process.env = {};
  for (const name of ["fetch", "WebSocket", "XMLHttpRequest", "EventSource", "Worker", "BroadcastChannel"]) {
    delete globalThis[name];
  }
}

let ceiling = Infinity;
const { grow } = WebAssembly.Memory.prototype;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * 65536 > ceiling) throw new RangeError("memory limit");
  return grow.call(this, pages);
};
process.binding = () => ({ fs: constants }); // Python's file system asks for the constants, before we close off its access

const { loadPyodide } = await import(url);
const python = await loadPyodide({
  indexURL: folder, jsglobals: {}, env: { HOME: "/tmp", PYTHONHASHSEED: "0" }, stdout() {}, stderr() {},
});
let input = Buffer.alloc(0);
let write = () => {};
const output = (fd) => ({
  write(bytes) {
    write(fd, Buffer.from(bytes));
    return bytes.length;
  },
});
python.setStdin({
  read(buffer) {
    const count = input.copy(buffer);
    input = input.subarray(count);
    return count;
  },
});
python.setStdout(output(1));
python.setStderr(output(2));
python.FS.mkdirTree("/tmp");
python.runPython(script);
const [prepare, unpack, start] = ["hone_prepare", "hone_unpack", "hone_start"].map((name) => python.globals.get(name));

/** Runs the job; its exit status. */
function run(job) {
  python.FS.writeFile("/tmp/.job", job);
  unpack();
  input = Buffer.from(python.FS.readFile("/tmp/.stdin"));
  python.FS.unlink("/tmp/.stdin");
  write(3, Buffer.from("R"));
  let status = 0;
  try {
    status = start();
  } catch (error) {
    status = typeof error?.status === "number" ? error.status : 1;
    write(2, Buffer.from(String(error?.message ?? error) + "\\n"));
  }
  let report = Buffer.alloc(0);
  try {
    report = Buffer.from(python.FS.readFile("/tmp/.report"));
  } catch {}
  write(3, report.subarray(1));
  return status;
}

prepare(run);
harden();
ceiling = serve(Buffer.from(filter, "hex"), Number(starvedTimes));
write = writeAll;
let status = 1;
try {
  status = run(readAll(0));
} catch (error) {
  write(2, Buffer.from(String(error?.message ?? error) + "\\n"));
}
end(status);
`;

/** Python that defines what CHILD calls, on top of the harness. */
export const CHILD_PYTHON = `
import atexit, gc

def hone_unpack():
    global _hone_job
    with open("/tmp/.job", "rb") as file:
        _hone_job = marshal.loads(file.read())
    os.unlink("/tmp/.job")
    with open("/tmp/.stdin", "wb") as file:
        file.write(hone_stdin(_hone_job))

def hone_start():
    global _hone_job
    os.chdir("/tmp")
    sys.argv[:] = ["solution.py"]
    job, opened = _hone_job, open
    del _hone_job
    for name in [m for m in sys.modules if m.partition(".")[0] in ("js", "pyodide_js", "pyodide")]:
        del sys.modules[name]
    def report(data):
        with opened("/tmp/.report", "ab") as file:
            file.write(data)
    status = 1
    try:
        try:
            hone_run(job, report)
            status = 0
        except BaseException:
            sys.tracebacklimit = 50  # each line takes a while, and a deep recursion has as many as calls
            sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.__stdout__, sys.stderr):
            stream.flush()
    return status

def hone_prepare(run):
    """Has programs like those to come run, for their engine compiles what is used, and what is used often better."""
    from pyodide.ffi import to_js
    for _ in range(12):
        for source, stdin, name, args in HONE_EXAMPLES:
            run(to_js(marshal.dumps((source, stdin, name, args, False, []), 2)))
            os.unlink("/tmp/.report")
    gc.collect()
    gc.freeze()

HONE_EXAMPLES = [
    ("""
import sys
from collections import Counter, defaultdict, deque
import heapq, math, bisect, itertools, re
class Node:
    def __init__(self, key):
        self.key, self.edges = key, []
    def __lt__(self, other):
        return self.key < other.key
def shortest(nodes, start):
    best, heap = {start: 0}, [(0, start)]
    while heap:
        far, at = heapq.heappop(heap)
        for to, cost in nodes[at].edges:
            if far + cost < best.get(to, 1 << 60):
                best[to] = far + cost
                heapq.heappush(heap, (far + cost, to))
    return best
n = int(input())
rows = [list(map(int, line.split())) for line in sys.stdin.read().splitlines()]
nodes = [Node(i) for i in range(n)]
for a, b, c in rows:
    nodes[a].edges.append((b, c))
print(*sorted(shortest(nodes, 0).items()), sep=", ")
sieve = [True] * 3000
for i in range(2, 55):
    if sieve[i]:
        sieve[i * i::i] = [False] * len(sieve[i * i::i])
print(sum(i for i, prime in enumerate(sieve) if prime and i > 1))
text = "".join(chr(97 + i * i % 26) for i in range(900))
print(Counter(text).most_common(3), text[::-1][:9], text.upper().find("Q"), f"{math.pi:.3f} {n:>5d} {n!r}")
print(re.findall(r"([a-c]+)(\\\\d*)", text)[:2], bisect.bisect([1, 2, 3], 2), sorted(set(text), key=lambda c: -ord(c))[:3])
queue = deque(itertools.islice(itertools.permutations(range(5)), 60))
while queue:
    queue.popleft()
groups = defaultdict(list)
for i, word in enumerate(text.split("a")):
    groups[len(word)].append(i)
print({k: v[:2] for k, v in groups.items() if k % 2}, 3 ** 200 % 1009, divmod(-7, 2), round(2.5), 0.1 + 0.2)
""", "4\\n0 1 5\\n1 2 3\\n0 2 9\\n2 3 1\\n", None, []),
    ("""
from functools import lru_cache
class Solution:
    def solve(self, values, target):
        @lru_cache(None)
        def ways(at, left):
            if at == len(values):
                return int(left == 0)
            return ways(at + 1, left) + ways(at + 1, left - values[at])
        table = [[0] * (target + 1) for _ in range(len(values) + 1)]
        for i, value in enumerate(values):
            for room in range(target + 1):
                table[i + 1][room] = max(table[i][room], table[i][room - value] + value if room >= value else 0)
        try:
            {}["none"]
        except KeyError as problem:
            str(problem)
        return [ways(0, target), table[-1][-1], "-".join(map(str, values)), {"a": 1.5, "b": None}, (True, -1)]
""", "", "solve", [[3, 1, 4, 1, 5, 9, 2, 6, 5, 3], 40]),
    ("def f(x):\\n    return g(x)\\ndef g(x):\\n    return [1, 2][x]\\n", "", "f", [5]),
    ("print('unfinished", "", None, []),
]
`;
