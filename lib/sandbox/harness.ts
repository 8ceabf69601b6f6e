import type { PythonValue } from "../python/value.ts";
import { bool, list, NONE, str } from "../python/value.ts";
import { dumps, loads } from "./marshal.ts";
import type { PythonProgram, PythonRun } from "./python-sandbox.ts";

/**
 * Python that runs a program: defines `hone_run(job, report)`. `job` is the result of `jobBytes`; `report(bytes)`
 * sends to the parent. Expected values are not in this process, so a program can pass only by computing the answer.
 * The first report precedes any reading of the program and shows that the sandbox works; every fault after it is the
 * program's.
 */
export const HARNESS = `
import sys, os, marshal, builtins

def hone_stdin(job):
    return b"" if job[4] else job[1].encode("utf-8", "surrogatepass")

def hone_run(job, report):
    source, stdin, name, args, guarded, imports = job
    main = type(sys)("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    scope = main.__dict__
    end = SystemExit
    builtins.quit = builtins.exit = sys.exit
    if guarded:
        class _GracefulExit(Exception):
            pass
        def _safe_exit(code=0):
            raise _GracefulExit(code)
        sys.exit = os._exit = builtins.quit = builtins.exit = _safe_exit
        scope.update(sys=sys, os=os, builtins=builtins, _GracefulExit=_GracefulExit, _safe_exit=_safe_exit)
        end = (_GracefulExit, SystemExit, KeyboardInterrupt)
        if name is None:
            from io import StringIO, BytesIO
            class _StdinWrapper:
                def __init__(self, text):
                    self._text_io = StringIO(text)
                    self.buffer = self._byte_io = BytesIO(text.encode("utf-8", "surrogatepass"))
                def read(self, *args):
                    return self._text_io.read(*args)
                def readline(self, *args):
                    return self._text_io.readline(*args)
                def readlines(self, *args):
                    return self._text_io.readlines(*args)
                def __iter__(self):
                    return iter(self._text_io)
            sys.stdin = _StdinWrapper(stdin)
            scope.update(StringIO=StringIO, BytesIO=BytesIO, _StdinWrapper=_StdinWrapper)
    for line in imports:
        exec(line, scope)
    sys.setrecursionlimit(50000)
    pack, base_dict, base_list, base_tuple, base_set = marshal.dumps, dict, list, tuple, (set, frozenset)
    bases = (str, bool, int, float)
    def plain(value):
        if isinstance(value, base_dict):
            return {plain(k): plain(v) for k, v in base_dict.items(value)}
        if isinstance(value, base_list):
            return [plain(v) for v in base_list.__iter__(value)]
        if isinstance(value, base_tuple):
            return base_tuple([plain(v) for v in base_tuple.__iter__(value)])
        for base in () if type(value) in bases else bases:
            if isinstance(value, base):
                return base.__add__(value, base())
        return value.item() if type(value).__module__ == "numpy" else value
    report(b"R")
    try:
        code = compile(source, "solution.py", "exec", 0, True)
    except BaseException as problem:
        report(b"S" + str(problem)[:100].encode("utf-8", "replace"))
        return
    try:
        exec(code, scope)
        if name is None:
            return
        if "Solution" in scope and (guarded or name not in scope or hasattr(scope["Solution"], name)):
            call = getattr(scope["Solution"](), name)
        else:
            call = scope[name]
        value = call(*args)
    except end:
        return
    try:
        packed = b"V" + pack(plain(value) if guarded else value, 2)
    except (ValueError, RecursionError, MemoryError, TypeError, AttributeError):
        packed = b"T" + type(value).__name__[:60].encode("utf-8", "replace")
    report(packed)
`;

/**
 * Contents of file descriptor 0; empty if a replacement of `sys.stdin` holds the input. `hone_stdin(job)` in Python
 * follows this rule too.
 */
export const stdinOf = ({ stdin, dialect }: PythonProgram): string => (dialect === "guarded" ? "" : stdin);

/** The job of one run for `hone_run`, in Python's marshal format. */
export function jobBytes(program: PythonProgram, imports: readonly string[]): Buffer {
  const { call } = program;
  const guarded = program.dialect === "guarded";
  const job: PythonValue[] = [
    str(guarded ? guard(program.source) : program.source),
    str(program.stdin),
    call === undefined ? NONE : str(call.name),
    list(call?.args ?? []),
    bool(guarded),
    list(imports.map(str)),
  ];
  return dumps({ type: "tuple", items: job });
}

/**
 * The source inside a `try`, as PipelineRL has it: `from __future__` no longer compiles there, and lines of long
 * strings are indented.
 */
function guard(source: string): string {
  const lines = source.split("\n").map((line) => (line.trim() === "" ? line : `    ${line}`));
  return `try:\n    pass\n${lines.join("\n")}\nfinally:\n    pass\n`;
}

/** Output of a finished process. */
export interface Traces {
  /** Everything that was reported, in order; not to be trusted from the second byte on. */
  readonly report: Buffer;
  readonly stdout: string;
  readonly stderr: string;
  /** Exit status; 128 plus its number for a signal. */
  readonly status: number;
}

/** True if a process's report shows that the sandbox works: every fault from then on is the program's. */
export const wasReached = (report: Buffer): boolean => report[0] === "R".charCodeAt(0);

/** How the program ended, by the traces of its process; undefined if the program never started, which is Hone's fault. */
export function readTraces({
  report,
  stdout,
  stderr,
  status,
}: Traces): Omit<PythonRun, "spentMs"> | undefined {
  if (!wasReached(report)) return undefined;
  const kind = String.fromCharCode(report[1] ?? 0);
  const body = report.subarray(2);
  const told = { stdout, stderr };
  if (kind === "S")
    return { ...told, end: "syntax", detail: printable(body.toString("utf8")), value: undefined };
  if (status !== 0) return { ...told, end: "failed", detail: causeOf(stderr, status), value: undefined };
  if (kind === "T")
    return { ...told, end: "finished", detail: `a ${printable(body.toString("utf8"))}`, value: undefined };
  return { ...told, end: "finished", detail: "", value: kind === "V" ? loads(body) : undefined };
}

const LAST_LINES = 3;
const LAST_CHARACTERS = 300;

const SIGNALS: Readonly<Record<number, string>> = {
  4: "illegal instruction",
  6: "aborted",
  7: "bus error",
  9: "killed",
  11: "segmentation fault",
  24: "out of processor time",
  25: "file too large",
  31: "killed: forbidden system call",
};

/** The last line of a traceback, or a description of the exit status. */
function causeOf(stderr: string, status: number): string {
  const signal = status > 128 ? SIGNALS[status - 128] : undefined;
  if (signal !== undefined) return signal;
  const last = stderr.trimEnd().split("\n").at(-1) ?? "";
  return /^[A-Za-z_][\w.]*(?::|$)/.test(last) ? printable(last) : `exit status ${status}`;
}

/** A line for a reason: no control characters, short. */
export function printable(text: string, most = 100): string {
  return text
    .slice(0, 2 * most)
    .replace(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, most);
}

/** The last lines of a process's output, which usually contain the error, as one line for a reason. */
export const logTail = (text: string): string =>
  printable(
    text.trimEnd().split("\n").slice(-LAST_LINES).join("\n").slice(-LAST_CHARACTERS),
    LAST_CHARACTERS,
  );
