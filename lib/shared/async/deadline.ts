import { setMaxListeners } from "node:events";

/**
 * What `work` comes to, under a signal that is aborted with `parent` (and its reason), or with a TimeoutError after `ms`
 * milliseconds. It is up to `work` to heed the signal. Afterwards nothing of it is left, but that `parent` no longer warns
 * of many listeners.
 *
 * `AbortSignal.any([parent, AbortSignal.timeout(ms)])` does not do: the one holds the other weakly, and the deadline is
 * lost to the next garbage collection (nodejs/node issue 57736). A server that never answered was waited for without end.
 */
export async function within<T>(
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const calledOff = () => own.abort(parent?.reason);
  if (parent?.aborted) calledOff();
  if (parent !== undefined) setMaxListeners(0, parent); // any number of deadlines, each of which takes its listener away
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
