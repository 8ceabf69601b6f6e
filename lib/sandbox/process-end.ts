/** How a process that ran a program ended. */
export interface ProcessEnd {
  readonly end: "exited" | "too-slow" | "too-much-output" | "aborted";
  /** Exit status; 128 plus its number for a signal. */
  readonly status: number;
  /** How long it took, as far as is known without the time in which it waited for a processor. */
  readonly spentMs: number;
  /** What was written, by descriptor, at most its cap. */
  readonly written: ReadonlyMap<number, Buffer>;
}
