import type { RunEnd } from "./run-interface.ts";

/** Records that a run was told to stop, and how. The first request counts. */
export class StopRequest {
  readonly #controller = new AbortController();
  #request: { readonly end: RunEnd; readonly save: boolean } = { end: "done", save: true };

  /** Aborted by the first request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** "done" for a run that was not stopped. */
  get end(): RunEnd {
    return this.#request.end;
  }

  /** True if the run saves a checkpoint at its end. */
  get save(): boolean {
    return this.#request.save;
  }

  request(end: Exclude<RunEnd, "done">, { save }: { readonly save: boolean }): void {
    if (this.signal.aborted) return;
    this.#request = { end, save };
    this.#controller.abort();
  }
}
