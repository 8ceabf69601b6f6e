/** How a process that ran a program ended. */
export interface ProcessEnd {
  readonly end: "exited" | "too-slow" | "too-much-output" | "aborted";
  /** Exit status; 128 plus its number for a signal. */
  readonly status: number;
  /** Duration of the process, without the time in which it waited for a processor, as far as that is known. */
  readonly spentMs: number;
  /** Output by descriptor, truncated to its cap. */
  readonly written: ReadonlyMap<number, Buffer>;
}
