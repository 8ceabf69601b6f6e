import { setMaxListeners } from "node:events";

/**
 * Awaits `work` with a signal that aborts with `parent` (and its reason), or with a TimeoutError after `ms`
 * milliseconds. `work` must observe the signal. Afterwards removes its listeners and timer; `parent` no longer warns
 * about many listeners.
 *
 * `AbortSignal.any([parent, AbortSignal.timeout(ms)])` is not enough: the composite holds its sources weakly, and the
 * deadline is lost at the next garbage collection (nodejs/node issue 57736). A server that never answered was then
 * awaited forever.
 */
export async function within<T>(
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const calledOff = () => own.abort(parent?.reason);
  if (parent?.aborted) calledOff();
  // any number of deadlines may listen; each removes its own listener
  if (parent !== undefined) setMaxListeners(0, parent);
  parent?.addEventListener("abort", calledOff, { once: true });
  const late = () => own.abort(new DOMException(`no end within ${ms} ms`, "TimeoutError"));
  const timer = setTimeout(late, ms).unref();
  try {
    return await work(own.signal);
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener("abort", calledOff);
  }
}
