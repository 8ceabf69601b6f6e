/** Time a hook may take to return once the run has been told to stop. Milliseconds. */
const GRACE_MS = 2000;

/**
 * Resolves with what a hook returns. Undefined if the run is told to stop and the hook does not return within the grace
 * time: it is then abandoned, `onLeft` is called, and its later result or error is ignored.
 */
export async function unlessStopped<T>(
  work: T | PromiseLike<T>,
  stopping: AbortSignal,
  onLeft: (afterMs: number) => void,
): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  let begin = () => {};
  const left = new Promise<undefined>((resolve) => {
    const leave = () => {
      onLeft(GRACE_MS);
      resolve(undefined);
    };
    begin = () => {
      timer = setTimeout(leave, GRACE_MS);
    };
    if (stopping.aborted) begin();
    else stopping.addEventListener("abort", begin, { once: true });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", begin);
  }
}
