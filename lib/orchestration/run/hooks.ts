import { unlessStopped } from "./hook-grace.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { RunContext } from "./run-context.ts";
import type { RunHooks } from "./run-interface.ts";

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
  const left = (ms: number) =>
    publisher.warn(`hook ${name} has not returned ${ms / 1000} s after the stop: left behind`);
  const work = async () => await unlessStopped(call(options.hooks ?? {}), stop.signal, left);
  return (await lifecycle.inHook(name, work)) as Awaited<T> | undefined;
}
