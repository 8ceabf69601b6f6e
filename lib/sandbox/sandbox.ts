/** Ceilings of one run. Crossing any of them is the program's failure, never ours. */
export interface SandboxLimits {
  /**
   * Work allowed to the whole run, all inputs together, in units of ten thousand jumps and calls. Work, not
   * time: an answer must not fail because the machine was busy.
   */
  readonly fuel: number;
  readonly memoryBytes: number;
  readonly stackBytes: number;
  readonly maxProgramChars: number;
  /** Longest string a program may return for one input. */
  readonly maxOutputChars: number;
}

/** Plain values only: nothing with behaviour crosses the border in either direction. */
export type SandboxValue = number | string;

/** Why a program gave no outputs; all are the program's own doing. */
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
 * Runs programs nobody vouches for. The inputs go in and the outputs come out; what the outputs ought to be
 * never does. No run can see or influence another. Against a program that spins inside one
 * built-in call, which fuel does not measure, a driver needs the caller's help: run it where the thread can be
 * killed.
 */
export interface Sandbox {
  readonly name: string;
  /** Makes the sandbox ready, so that the first run does not pay for it. Rejects as run does. */
  start(): Promise<void>;
  /** Rejects with HONE_ERR_VERIFIER only when the sandbox itself cannot work. */
  run(
    program: SandboxProgram,
    inputs: readonly SandboxValue[],
    limits: SandboxLimits,
  ): Promise<SandboxResult>;
}
