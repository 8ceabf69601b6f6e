import { unlessStopped } from "./hook-grace.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { RunContext } from "./run-context.ts";
import type { RunHooks } from "./run-interface.ts";

/** The hook of a batch, which a run that is told to stop leaves behind as it does others; undefined where there is none. */
export function batchHook({
  stop,
  options,
  publisher,
}: Pick<RunContext, "stop" | "options" | "publisher">): RunHooks["onBatch"] {
  const { onBatch } = options.hooks ?? {};
  if (onBatch === undefined) return undefined;
  const left = leftBehind(publisher, "onBatch");
  return async (groups) => unlessStopped(onBatch(groups), stop.signal, left);
}

const leftBehind = (publisher: Pick<RunContext["publisher"], "warn">, name: string) => (ms: number) =>
  publisher.warn(`hook ${name} has not returned ${ms / 1000} s after the stop: left behind`);

/**
 * Calls a hook of the run's owner. A run that is told to stop waits no longer than the grace time; then it continues
 * without the hook and warns. Undefined where the hook is not called or not awaited; throws what it throws.
 */
export async function callHook<T>(
  { stop, options, publisher }: Pick<RunContext, "stop" | "options" | "publisher">,
  lifecycle: Pick<Lifecycle<{ readonly isIdle: boolean }>, "inHook">,
  name: "beforeTraining" | "afterStep",
  call: (hooks: RunHooks) => T | PromiseLike<T>,
): Promise<Awaited<T> | undefined> {
  if (stop.signal.aborted && name === "beforeTraining") return undefined;
  const left = leftBehind(publisher, name);
  const work = async () => await unlessStopped(call(options.hooks ?? {}), stop.signal, left);
  return (await lifecycle.inHook(name, work)) as Awaited<T> | undefined;
}
