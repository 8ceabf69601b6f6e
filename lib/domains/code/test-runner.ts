/** The outcome of one test. If `end` is set, the tests that follow are skipped, because their outcomes no longer matter. */
export interface Outcome {
  readonly end: boolean;
}

/** Tests of one answer that run at the same time. */
export const AT_ONCE = 2;

/**
 * Runs tests in order, two at a time, until one ends the run. Returns the outcomes up to the first test, in
 * order, that ended it, whichever finished first: the same answer gives the same list. Rejects if `run` does
 * for one of these tests. Aborts tests that no longer matter through their signal, and settles after all have
 * ended.
 */
export async function runTests<T extends Outcome>(
  count: number,
  run: (index: number, signal: AbortSignal) => Promise<T>,
): Promise<T[]> {
  const outcomes: T[] = [];
  const faults = new Map<number, unknown>();
  const running = new Map<number, AbortController>();
  let last = count;
  let next = 0;
  const closeAfter = (index: number) => {
    last = Math.min(last, index + 1);
    for (const [other, controller] of running) if (other >= last) controller.abort();
  };
  const lane = async () => {
    while (next < last) {
      const index = next++;
      const controller = new AbortController();
      running.set(index, controller);
      try {
        const outcome = await run(index, controller.signal);
        outcomes[index] = outcome;
        if (outcome.end) closeAfter(index);
      } catch (fault) {
        faults.set(index, fault);
        closeAfter(index);
      }
      running.delete(index);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (faults.has(last - 1)) throw faults.get(last - 1);
  return outcomes.slice(0, last);
}
