import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { type ProcessEnd, runBounded } from "./bounded-process.ts";
import { HARNESS } from "./harness.ts";
import { capsOf, cpuSeconds, ProcessSandbox, REPORT_FD, unusable } from "./process-sandbox.ts";
import type { PythonLimits, Readiness } from "./python-sandbox.ts";
import { seccompFilter } from "./seccomp.ts";

/** Of the host, the program sees this folder, read-only; Python must be in it. */
const SYSTEM = "/usr";
const PYTHONS = [`${SYSTEM}/bin/python3`, `${SYSTEM}/local/bin/python3`];
/** Nobody: who the program is inside, and, where root runs us, outside too, so that limits per user hold. */
const NOBODY = 65534;

const SECCOMP_FD = 4;
const TMP_BYTES = 64 << 20;
const FILE_BYTES = 16 << 20;
const STACK_BYTES = 120 << 20;
const OPEN_FILES = 64;
/** Threads, with the two processes of bubblewrap itself. */
const TASKS = 64;

/** Sets the limits, which hold for good from then on, puts the input where standard input was, and runs the job. */
const LAUNCHER = `
import resource
def launch():
    memory, seconds = map(int, sys.argv[1:])
    sys.argv[:] = ["solution.py"]
    sys.path[:] = [p for p in sys.path if p]
    parts = []
    while True:
        part = os.read(0, 1 << 20)
        if not part:
            break
        parts.append(part)
    job = marshal.loads(b"".join(parts))
    held = os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600)
    rest = memoryview(hone_stdin(job))
    while rest:
        rest = rest[os.write(held, rest):]
    os.lseek(held, 0, 0)
    os.dup2(held, 0)
    os.close(held)
    for kind, limit in (
        ("AS", memory), ("CPU", seconds), ("FSIZE", ${FILE_BYTES}), ("STACK", ${STACK_BYTES}),
        ("NOFILE", ${OPEN_FILES}), ("NPROC", ${TASKS}), ("CORE", 0),
    ):
        kind = getattr(resource, "RLIMIT_" + kind)
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
    write = os.write
    def report(data):
        rest = memoryview(data)
        while rest:
            rest = rest[write(${REPORT_FD}, rest):]
        if data == b"R" and os.read(${REPORT_FD}, 1) != b"G":
            os._exit(1)
    hone_run(job, report)
launch()
`;

/**
 * Linux namespaces by bubblewrap, a seccomp filter and resource limits around the system's own Python. The program is
 * alone: no network, no host files but a read-only /usr, no /etc, /proc or home, no processes but its own one, nothing to
 * write but 64 MiB of /tmp. When it ends, or we do, the kernel kills whatever is left.
 */
export class BubblewrapSandbox extends ProcessSandbox {
  readonly name = "bubblewrap";
  readonly #command: string;

  /** @param command the bwrap program, by path or by name on PATH. */
  constructor(command = "bwrap") {
    super();
    this.#command = command;
  }

  protected start(job: Buffer, limits: PythonLimits, signal?: AbortSignal): Promise<ProcessEnd> {
    const python = ["-s", "-S", "-B", "-X", "utf8", "-c", HARNESS + LAUNCHER];
    const ceilings = [limits.memoryBytes, cpuSeconds(limits)].map(String);
    return runBounded({
      command: this.#command,
      args: [...CONTAINMENT, python3()!, ...python, ...ceilings],
      env: { PATH: process.env["PATH"] ?? "" },
      ...(process.getuid?.() === 0 ? { user: NOBODY } : {}),
      feed: { 0: job, [SECCOMP_FD]: seccompFilter()! },
      caps: capsOf(limits),
      // bubblewrap killed while it starts would leave a process that nothing kills.
      gate: REPORT_FD,
      wallMs: limits.wallMs,
      signal,
    });
  }

  protected async prepare(): Promise<Readiness> {
    if (process.platform !== "linux") return unusable(`needs Linux, this is ${process.platform}`);
    if (seccompFilter() === undefined) return unusable(`no system call filter for ${process.arch}`);
    if (python3() === undefined) return unusable(`no python3 at ${PYTHONS.join(" or ")}`);
    const what = await versionOf(this.#command);
    return what === undefined
      ? unusable(`${this.#command} is not installed (apt-get install bubblewrap)`)
      : { usable: true, what };
  }
}

const CONTAINMENT: readonly string[] = [
  ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
  ["--uid", String(NOBODY), "--gid", String(NOBODY), "--hostname", "sandbox"],
  ["--clearenv", "--setenv", "PYTHONHASHSEED", "0", "--setenv", "HOME", "/tmp"],
  ["--ro-bind", SYSTEM, SYSTEM],
  ...["lib", "lib64", "bin"].map((name) => ["--symlink", `usr/${name}`, `/${name}`]),
  ["--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom", "/dev/urandom"],
  ["--size", String(TMP_BYTES), "--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", "/tmp"],
  ["--seccomp", String(SECCOMP_FD), "--"],
].flat();

const python3 = (): string | undefined => PYTHONS.find((path) => existsSync(path));

function versionOf(command: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, ["--version"], { timeout: 5000 }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim()),
    );
  });
}
