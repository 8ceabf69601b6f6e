import { HoneError } from "../errors.ts";
import type { PythonValue } from "../python/value.ts";

/** An untrusted Python program, and the input of one test, without the expected output. */
export interface PythonProgram {
  readonly source: string;
  /** Standard input of the program; empty if the job calls a function. */
  readonly stdin: string;
  /** The function to call once the source has run; absent: the program is judged by what it prints. */
  readonly call?: { readonly name: string; readonly args: readonly PythonValue[] };
  /**
   * `script`: as `python3 program.py` would run it. `guarded`: as PipelineRL does, inside a `try`, four columns to
   * the right, with stand-ins for `sys.stdin` and for everything that exits.
   */
  readonly dialect: "script" | "guarded";
}

export interface PythonLimits {
  /**
   * Wall time of the run. Where the driver can tell, the time in which the program could have run but no processor was
   * free does not count, nor does time in which everything stood still; a run that waits until STARVED_TIMES its limit is
   * lost, which is no verdict.
   */
  readonly wallMs: number;
  readonly memoryBytes: number;
  /** Limit of standard output; beyond it the program is killed. */
  readonly outputBytes: number;
}

/** Multiple of its limit that a program may take in wall time while it waits for a processor. */
export const STARVED_TIMES = 30;

/** How a run ended; every end except `finished` is the program's fault. */
export type PythonEnd =
  | "finished"
  | "syntax"
  /** An uncaught exception, a non-zero exit status, a fatal signal. */
  | "failed"
  | "too-slow"
  | "too-much-output";

/** How a confined Python program ended, and its output. */
export interface PythonRun {
  readonly end: PythonEnd;
  /**
   * The exception or signal, for use in a verdict's reason. Under 120 characters; untrusted, since the program wrote
   * it.
   */
  readonly detail: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Duration of the program, measured like `wallMs`. */
  readonly spentMs: number;
  /** Result of the call: undefined if it returned nothing serialisable, or never returned. */
  readonly value: PythonValue | undefined;
}

/** Whether a driver works on this machine. */
export type Readiness =
  | { readonly usable: true; readonly what: string }
  | { readonly usable: false; readonly why: string };

/**
 * Runs untrusted Python programs: each in a fresh process without access to the network, the host's files, or the
 * expected output. A run always ends in one of the ways of RunEnd.
 */
export interface PythonSandbox {
  readonly name: string;
  /** Tries the driver out until it works once; from then on that is the answer. Never rejects. */
  probe(): Promise<Readiness>;
  /**
   * Rejects with HONE_ERR_VERIFIER only if the sandbox itself cannot work or was killed from outside twice, with
   * HONE_ERR_ABORTED after `signal`. Resolves at most 100 ms after `limits.wallMs`, measured as that field says.
   */
  run(program: PythonProgram, limits: PythonLimits, signal?: AbortSignal): Promise<PythonRun>;
}

/** A fault of the driver, not of the program. */
export class SandboxFault extends HoneError {
  /** The reason without the driver's name, for callers that add it. */
  readonly why: string;

  constructor(driver: string, why: string) {
    super("HONE_ERR_VERIFIER", `${driver} does not work: ${why}`, {
      hint: "run `npx hone doctor`, or choose another driver by HONE_SANDBOX",
    });
    this.why = why;
  }
}

/** Program for testing a driver: prints Python's version. */
export const TRIAL: PythonProgram = {
  source: `import sys\nprint(sys.version.split()[0])\n`,
  stdin: "",
  dialect: "script",
};
export const TRIAL_LIMITS: PythonLimits = { wallMs: 10_000, memoryBytes: 2 ** 30, outputBytes: 2 ** 20 };
