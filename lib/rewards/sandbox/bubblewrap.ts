import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { HoneError } from "../../errors.ts";
import { type ProcessEnd, runBounded } from "./bounded-process.ts";
import { HARNESS, jobBytes, printable, readTraces } from "./harness.ts";
import { type ModuleNames, NAMES_SCRIPT, neededImports, readNames } from "./preamble.ts";
import {
  type PythonLimits,
  type PythonProgram,
  type PythonRun,
  type PythonSandbox,
  type Readiness,
  TRIAL,
  TRIAL_LIMITS,
} from "./python-sandbox.ts";
import { seccompFilter } from "./seccomp.ts";

/** Of the host, the program sees this folder, read-only; Python must be in it. */
const SYSTEM = "/usr";
const PYTHONS = [`${SYSTEM}/bin/python3`, `${SYSTEM}/local/bin/python3`];
/** Nobody: who the program is inside, and, where root runs us, outside too, so that limits per user hold. */
const NOBODY = 65534;

const REPORT_FD = 3;
const SECCOMP_FD = 4;
const STDERR_BYTES = 1 << 20;
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
export class BubblewrapSandbox implements PythonSandbox {
  readonly name = "bubblewrap";
  readonly #command: string;
  #probing: Promise<Readiness> | undefined;
  #names: ModuleNames | undefined;

  /** @param command the bwrap program, by path or by name on PATH. */
  constructor(command = "bwrap") {
    this.#command = command;
  }

  probe(): Promise<Readiness> {
    this.#probing ??= this.#tryOut();
    return this.#probing;
  }

  async run(program: PythonProgram, limits: PythonLimits, signal?: AbortSignal): Promise<PythonRun> {
    const readiness = await this.probe();
    if (!readiness.usable) throw fault(readiness.why);
    return this.#run(program, limits, signal);
  }

  async #run(program: PythonProgram, limits: PythonLimits, signal?: AbortSignal): Promise<PythonRun> {
    const end = await this.#spawn(program, limits, signal).catch((cause: Error) => {
      throw fault(`${this.#command} did not start: ${cause.message}`);
    });
    if (end.end === "aborted") throw new HoneError("HONE_ERR_ABORTED", "the run was called off");
    const [stdout, stderr] = [1, 2].map((fd) => end.written.get(fd)!.toString("utf8")) as [string, string];
    const report = end.written.get(REPORT_FD)!;
    const run = readTraces({ report, stdout, stderr, status: end.status });
    if (run === undefined) throw fault(printable(stderr) || `Python was not reached, status ${end.status}`);
    return end.end === "exited" ? run : { ...run, end: end.end, detail: "", value: undefined };
  }

  #spawn(program: PythonProgram, limits: PythonLimits, signal?: AbortSignal): Promise<ProcessEnd> {
    const seconds = Math.ceil(limits.wallMs / 1000) + 1;
    const python = ["-s", "-S", "-B", "-X", "utf8", "-c", HARNESS + LAUNCHER];
    return runBounded({
      command: this.#command,
      args: [...CONTAINMENT, python3()!, ...python, String(limits.memoryBytes), String(seconds)],
      env: { PATH: process.env["PATH"] ?? "" },
      ...(process.getuid?.() === 0 ? { user: NOBODY } : {}),
      feed: {
        0: jobBytes(program, neededImports(program.source, this.#names)),
        [SECCOMP_FD]: seccompFilter()!,
      },
      caps: { 1: limits.outputBytes, 2: STDERR_BYTES, [REPORT_FD]: limits.outputBytes },
      // bubblewrap killed while it starts would leave a process that nothing kills.
      gate: REPORT_FD,
      wallMs: limits.wallMs,
      signal,
    });
  }

  async #tryOut(): Promise<Readiness> {
    if (process.platform !== "linux") return unusable(`needs Linux, this is ${process.platform}`);
    if (seccompFilter() === undefined) return unusable(`no system call filter for ${process.arch}`);
    if (python3() === undefined) return unusable(`no python3 at ${PYTHONS.join(" or ")}`);
    const version = await versionOf(this.#command);
    if (version === undefined)
      return unusable(`${this.#command} is not installed (apt-get install bubblewrap)`);
    try {
      const trial = { ...TRIAL, source: TRIAL.source + NAMES_SCRIPT };
      const { end, stdout, detail } = await this.#run(trial, TRIAL_LIMITS);
      if (end !== "finished") return unusable(`the trial program ended ${end}: ${detail}`);
      const [python, ...names] = stdout.split("\n");
      this.#names = readNames(names.join("\n"));
      return { usable: true, what: `${version}, python ${python}` };
    } catch (error) {
      return unusable(error instanceof Error ? error.message : String(error));
    }
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
const unusable = (why: string): Readiness => ({ usable: false, why });

function versionOf(command: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, ["--version"], { timeout: 5000 }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim()),
    );
  });
}

function fault(why: string): HoneError {
  return new HoneError("HONE_ERR_VERIFIER", `the bubblewrap sandbox does not work: ${why}`, {
    hint: "run `npx hone doctor`, or choose another driver by HONE_SANDBOX",
  });
}
