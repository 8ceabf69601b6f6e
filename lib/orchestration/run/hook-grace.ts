/** How long a hook may take to return once the run has been told to stop. */
const GRACE_MS = 2000;

/**
 * What a hook returns; undefined if the run is told to stop and the hook has not returned some time later: then it is
 * left behind, `onLeft` is called, and what it returns or throws later is ignored.
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
