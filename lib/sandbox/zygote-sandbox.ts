import type { ProcessEnd } from "./process-end.ts";
import { cpuSeconds, ProcessSandbox, STDERR_BYTES } from "./process-sandbox.ts";
import type { PythonLimits } from "./python-sandbox.ts";
import type { Zygote } from "./zygote.ts";

/** A driver that starts Python once and forks a process for each run from it. */
export abstract class ZygoteSandbox extends ProcessSandbox {
  #zygote: Zygote | undefined;

  /** Starts Python. Called when the driver has been prepared, and again when the started process is lost. */
  protected abstract open(): Zygote;

  protected start(job: Buffer, limits: PythonLimits, signal?: AbortSignal): Promise<ProcessEnd> {
    if (!this.#zygote?.isAlive) this.#zygote = this.open();
    return this.#zygote.run({
      job,
      wallMs: limits.wallMs,
      cpuSeconds: cpuSeconds(limits),
      memoryBytes: limits.memoryBytes,
      outputBytes: limits.outputBytes,
      stderrBytes: STDERR_BYTES,
      signal,
    });
  }
}
