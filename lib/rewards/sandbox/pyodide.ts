import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { HoneError } from "../../errors.ts";
import { type ProcessEnd, type ProcessPlan, runBounded } from "./bounded-process.ts";
import { HARNESS, jobBytes, printable, readTraces } from "./harness.ts";
import { type ModuleNames, NAMES_SCRIPT, neededImports, readNames, STAR_MODULES } from "./preamble.ts";
import { CHILD, CHILD_PYTHON } from "./pyodide-child.ts";
import {
  type PythonLimits,
  type PythonProgram,
  type PythonRun,
  type PythonSandbox,
  type Readiness,
  TRIAL,
  TRIAL_LIMITS,
} from "./python-sandbox.ts";

const REPORT_FD = 3;
const SNAPSHOT_FD = 4;
const SNAPSHOT_MS = 60_000;
const MAX_SNAPSHOT_BYTES = 256 << 20;
const STDERR_BYTES = 1 << 20;

/** Starts a program under a limit of processor time that outlives us, and has it killed with the thread that started it. */
const SHELL = `ulimit -c 0; ulimit -t "$0"; command -v setpriv >/dev/null && exec setpriv --pdeathsig KILL "$@"; exec "$@"`;

/**
 * CPython compiled to WebAssembly, in a child process of Node that may read nothing but Python's own files, start no
 * process and compile no JavaScript. It is weaker than namespaces, and each run starts in a quarter of a second at
 * best: docs/sandbox.md says what it does not stop.
 */
export class PyodideSandbox implements PythonSandbox {
  readonly name = "wasm";
  #probing: Promise<Readiness> | undefined;
  #snapshot: Buffer | undefined;
  #names: ModuleNames | undefined;

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
    const job = jobBytes(program, neededImports(program.source, this.#names));
    const caps = { 1: limits.outputBytes, 2: STDERR_BYTES, [REPORT_FD]: limits.outputBytes };
    const end = await child("run", limits, { 0: job, [SNAPSHOT_FD]: this.#snapshot! }, caps, signal);
    if (end.end === "aborted") throw new HoneError("HONE_ERR_ABORTED", "the run was called off");
    const [stdout, stderr] = [1, 2].map((fd) => end.written.get(fd)!.toString("utf8")) as [string, string];
    const report = end.written.get(REPORT_FD)!;
    const run = readTraces({ report, stdout, stderr, status: end.status });
    if (run === undefined) throw fault(printable(stderr) || `Python was not reached, status ${end.status}`);
    return end.end === "exited" ? run : { ...run, end: end.end, detail: "", value: undefined };
  }

  async #tryOut(): Promise<Readiness> {
    if (moduleUrl() === undefined) return unusable("the optional package pyodide is not installed");
    if (!existsSync("/bin/sh")) return unusable("needs /bin/sh");
    try {
      const script = `${HARNESS}${CHILD_PYTHON}\nimport ${STAR_MODULES.join(", ")}\n`;
      const limits = { ...TRIAL_LIMITS, wallMs: SNAPSHOT_MS };
      const caps = { 1: STDERR_BYTES, 2: STDERR_BYTES, [REPORT_FD]: MAX_SNAPSHOT_BYTES };
      const made = await child("snapshot", limits, { 0: Buffer.from(script) }, caps);
      if (made.end !== "exited" || made.status !== 0) {
        return unusable(
          `no snapshot: ${printable(made.written.get(2)!.toString("utf8").slice(-200)) || made.end}`,
        );
      }
      this.#snapshot = made.written.get(REPORT_FD)!;
      const trial = { ...TRIAL, source: TRIAL.source + NAMES_SCRIPT };
      const { end, stdout, detail } = await this.#run(trial, limits);
      if (end !== "finished") return unusable(`the trial program ended ${end}: ${detail}`);
      const [python, ...names] = stdout.split("\n");
      this.#names = readNames(names.join("\n"));
      return { usable: true, what: `pyodide, python ${python}` };
    } catch (error) {
      return unusable(error instanceof Error ? error.message : String(error));
    }
  }
}

const unusable = (why: string): Readiness => ({ usable: false, why });

function moduleUrl(): URL | undefined {
  try {
    return pathToFileURL(createRequire(import.meta.url).resolve("pyodide/pyodide.mjs"));
  } catch {
    return undefined;
  }
}

function child(
  task: "snapshot" | "run",
  limits: PythonLimits,
  feed: ProcessPlan["feed"],
  caps: ProcessPlan["caps"],
  signal?: AbortSignal,
): Promise<ProcessEnd> {
  const url = moduleUrl()!;
  const folder = `${dirname(createRequire(import.meta.url).resolve("pyodide/pyodide.mjs"))}/`;
  const permission = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const flags = [
    permission,
    `--allow-fs-read=${folder}*`,
    "--disallow-code-generation-from-strings",
    "--no-warnings",
  ];
  const seconds = Math.ceil(limits.wallMs / 1000) + 1;
  const script = [
    "--input-type=module",
    "-e",
    CHILD,
    "--",
    url.href,
    folder,
    String(limits.memoryBytes),
    task,
  ];
  return runBounded({
    command: "/bin/sh",
    args: ["-c", SHELL, String(seconds), process.execPath, ...flags, ...script],
    env: {},
    feed,
    caps,
    wallMs: limits.wallMs,
    signal,
  }).catch((cause: Error) => {
    throw fault(`the child process did not start: ${cause.message}`);
  });
}

function fault(why: string): HoneError {
  return new HoneError("HONE_ERR_VERIFIER", `the wasm sandbox does not work: ${why}`, {
    hint: "run `npx hone doctor`, or choose another driver by HONE_SANDBOX",
  });
}
