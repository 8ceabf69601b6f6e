import { HoneError } from "../errors.ts";
import { jobBytes, logTail, readTraces, wasReached } from "./harness.ts";
import { type ModuleNames, NAMES_SCRIPT, neededImports, readNames } from "./preamble.ts";
import type { ProcessEnd } from "./process-end.ts";
import {
  type PythonLimits,
  type PythonProgram,
  type PythonRun,
  type PythonSandbox,
  type Readiness,
  SandboxFault,
  TRIAL,
  TRIAL_LIMITS,
} from "./python-sandbox.ts";

/** Descriptor to which a process writes its reports (harness.ts). */
export const REPORT_FD = 3;
const STDERR_FD = 2;
export const STDERR_BYTES = 1 << 20;

/** Status of a process that SIGKILL ended. No program can send it to itself. */
const KILLED = 128 + 9;

/**
 * Seconds of processor time at which the kernel kills a program: a limit for a process that outlives us. Far above
 * the time limit, because a kernel that counts by ticks charges a whole tick to the running process: beside processes
 * that sleep often, a program was charged 1.6 times its usage, and killed before its time limit.
 */
export const cpuSeconds = ({ wallMs }: PythonLimits): number => 8 * Math.ceil(wallMs / 1000) + 1;

/** Text that a process wrote to a file descriptor. */
export const textOf = ({ written }: ProcessEnd, fd: number): string => written.get(fd)!.toString("utf8");

export const unusable = (why: string): Readiness => ({ usable: false, why });

/** A driver that runs programs in processes of this machine, and runs a trial program before the first one. */
export abstract class ProcessSandbox implements PythonSandbox {
  abstract readonly name: string;
  #probing: Promise<Readiness> | undefined;
  #names: ModuleNames | undefined;

  async probe(): Promise<Readiness> {
    this.#probing ??= this.#tryOut();
    const readiness = await this.#probing;
    if (!readiness.usable) this.#probing = undefined; // a failure with an external cause may be temporary
    return readiness;
  }

  async run(program: PythonProgram, limits: PythonLimits, signal?: AbortSignal): Promise<PythonRun> {
    const readiness = await this.probe();
    if (!readiness.usable) throw this.#fault(readiness.why);
    return this.#run(program, limits, signal);
  }

  /** Prepares a trial: describes the environment, or says why a trial is pointless. Called until a trial succeeds. */
  protected abstract prepare(): Promise<Readiness>;

  /**
   * Runs the job in a process that reports on REPORT_FD. Rejects where it does not start, or something outside kills it;
   * it is then called once more.
   */
  protected abstract start(job: Buffer, limits: PythonLimits, signal?: AbortSignal): Promise<ProcessEnd>;

  /**
   * Returns how a job ended; a job that something outside ended is run once more. Rejects with HONE_ERR_VERIFIER if
   * it is lost again, or Python was not reached; with HONE_ERR_ABORTED after `signal`.
   */
  protected async runJob(job: Buffer, limits: PythonLimits, signal?: AbortSignal): Promise<ProcessEnd> {
    const start = async () => {
      const end = await this.start(job, limits, signal);
      if (end.end === "exited" && end.status === KILLED)
        throw new Error("something outside killed the process");
      return end;
    };
    const end = await start()
      .catch(start) // a lost run is retried
      .catch((cause: Error) => {
        throw this.#fault(logTail(cause.message));
      });
    if (end.end === "aborted")
      throw new HoneError("HONE_ERR_ABORTED", "the run of the program was cancelled");
    if (wasReached(end.written.get(REPORT_FD)!)) return end;
    throw this.#fault(logTail(textOf(end, STDERR_FD)) || `Python was not reached, status ${end.status}`);
  }

  async #run(program: PythonProgram, limits: PythonLimits, signal?: AbortSignal): Promise<PythonRun> {
    const job = jobBytes(program, neededImports(program.source, this.#names));
    const end = await this.runJob(job, limits, signal);
    const [stdout, stderr] = [textOf(end, 1), textOf(end, STDERR_FD)];
    const told = readTraces({ report: end.written.get(REPORT_FD)!, stdout, stderr, status: end.status })!;
    const run = { ...told, spentMs: end.spentMs };
    return end.end === "exited" || end.end === "aborted"
      ? run
      : { ...run, end: end.end, detail: "", value: undefined };
  }

  async #tryOut(): Promise<Readiness> {
    try {
      const prepared = await this.prepare();
      if (!prepared.usable) return prepared;
      const trial = { ...TRIAL, source: TRIAL.source + NAMES_SCRIPT };
      const { end, stdout, detail } = await this.#run(trial, TRIAL_LIMITS);
      if (end !== "finished") return unusable(`the trial program ended ${end}: ${detail}`);
      const [python, ...names] = stdout.split("\n");
      this.#names = readNames(names.join("\n"));
      return { usable: true, what: `${prepared.what}, python ${python}` };
    } catch (error) {
      if (error instanceof SandboxFault) return unusable(error.why);
      return unusable(error instanceof Error ? error.message : String(error));
    }
  }

  #fault(why: string): SandboxFault {
    return new SandboxFault(`the ${this.name} sandbox`, why);
  }
}
