import { unlessStopped } from "./hook-grace.ts";
import type { Lifecycle } from "./lifecycle.ts";
import type { RunContext } from "./run-context.ts";
import type { RunHooks } from "./run-interface.ts";

/** The batch hook; a run that is told to stop abandons it like the other hooks. Undefined if there is none. */
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
  publisher.warn(`hook ${name} has not returned ${ms / 1000} s after the stop: abandoned`);

/**
 * Calls a hook of the run's owner. A run that is told to stop waits at most the grace time; then it continues without
 * the hook and warns. Undefined if the hook is not called or was abandoned; throws the hook's exception.
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
