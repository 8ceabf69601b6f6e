/** Limits of one run. Exceeding any of them is the program's failure, never ours. */
export interface SandboxLimits {
  /**
   * Work allowed for the whole run, all inputs together, in units of ten thousand jumps and calls. Work, not time: an
   * answer must not fail because the machine was busy.
   */
  readonly fuel: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
  readonly maxProgramChars: number;
  /** Longest string that a program may return for one input. */
  readonly maxOutputChars: number;
}

/** Plain values only: no functions or objects pass in either direction. */
export type SandboxValue = number | string;

/** Why a program returned no outputs; each is the program's fault. */
export type SandboxFailure =
  | "too-long"
  | "syntax"
  | "threw"
  | "out-of-fuel"
  | "out-of-memory"
  | "stack-overflow"
  | "output-type"
  | "crash";

export type SandboxResult =
  | { readonly ok: true; readonly outputs: readonly SandboxValue[] }
  | { readonly ok: false; readonly failure: SandboxFailure; readonly detail: string };

/** A program: one expression in the single variable `x`. */
export interface SandboxProgram {
  readonly expression: string;
}

/**
 * Runs untrusted programs. A run receives inputs and returns outputs, and never sees the expected outputs. Runs
 * cannot see or influence each other. A driver cannot stop a program that loops inside one built-in call, which fuel
 * does not measure: run it on a thread that can be killed.
 */
export interface Sandbox {
  readonly name: string;
  /** Initialises the sandbox, so that the first run does not have to. Rejects with the errors of `run`. */
  start(): Promise<void>;
  /** Rejects with HONE_ERR_VERIFIER only when the sandbox itself cannot work. */
  run(
    program: SandboxProgram,
    inputs: readonly SandboxValue[],
    limits: SandboxLimits,
  ): Promise<SandboxResult>;
}
