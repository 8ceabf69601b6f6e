import { constants } from "node:os";
import { type ErrorCode, HoneError } from "../errors.ts";

/** What a process of this package ends with; stopped by a signal it ends with 128 and the signal's number, as in a shell. */
export const EXIT = { done: 0, bug: 1, usage: 2, environment: 3, data: 4, aborted: 130 } as const;

const exitOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];

const BY_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  HONE_ERR_CONFIG: EXIT.usage,
  HONE_ERR_USAGE: EXIT.usage,
  HONE_ERR_NATIVE_LOAD: EXIT.environment,
  HONE_ERR_OUT_OF_MEMORY: EXIT.environment,
  HONE_ERR_CUDA: EXIT.environment,
  HONE_ERR_COLLECTIVE: EXIT.environment,
  HONE_ERR_UNSUPPORTED: EXIT.environment,
  HONE_ERR_IO: EXIT.environment,
  HONE_ERR_HUB: EXIT.environment,
  HONE_ERR_DATA: EXIT.data,
  HONE_ERR_VERIFIER: EXIT.data,
  HONE_ERR_CHECKPOINT: EXIT.data,
  HONE_ERR_FORMAT: EXIT.data,
  HONE_ERR_REPLAY: EXIT.data,
  HONE_ERR_NON_FINITE: EXIT.usage, // what the hint names is in the recipe
  HONE_ERR_ABORTED: EXIT.aborted,
};

export function exitCodeOf(error: unknown): number {
  if (!HoneError.is(error)) return EXIT.bug;
  const { signal } = error.details;
  if (error.code === "HONE_ERR_ABORTED" && signal !== undefined) return exitOf(signal as NodeJS.Signals);
  return BY_CODE[error.code] ?? EXIT.bug;
}

/** Code, message and hint for people; with the stack where it is not one of ours. */
export function explain(error: unknown): string {
  if (!HoneError.is(error)) return error instanceof Error ? (error.stack ?? String(error)) : String(error);
  const cause =
    error.cause instanceof Error && !error.message.includes(error.cause.message) ? error.cause : undefined;
  return [
    `${error.code}  ${error.message}`,
    ...(error.hint === undefined ? [] : [`  hint: ${error.hint}`]),
    ...(cause === undefined ? [] : [`  cause: ${cause.message}`]),
  ].join("\n");
}

/** What is done when nobody takes the output any more; a run has something to save first. */
let onUnread = (): void => process.exit(EXIT.done);

/**
 * Makes an output that ends early (`hone run ... | head`, a closed terminal, a full disk under `> log`) no crash:
 * commands end quietly, and what asked for an `interruptSignal` is interrupted.
 */
export function tolerateLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => onUnread());
}

/** Runs an entry script: what it throws is explained on stderr and becomes the exit code, and so is what it returns. */
export async function runMain(main: () => Promise<number>): Promise<void> {
  tolerateLostOutput();
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exitCode = exitCodeOf(error);
  }
}

/**
 * A signal that aborts on the first SIGINT, SIGTERM or SIGHUP, or when nobody takes the output any more (SIGPIPE), so
 * that a run drains and saves; the second SIGINT or SIGTERM ends the process at once. Its reason is a HONE_ERR_ABORTED
 * of which `exitCodeOf` makes 130, 143, 129 or 141.
 */
export function interruptSignal(say: (line: string) => void): AbortSignal {
  const controller = new AbortController();
  const abort = (signal: NodeJS.Signals) =>
    controller.abort(new HoneError("HONE_ERR_ABORTED", `stopped by ${signal}`, { details: { signal } }));
  const interrupted = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(exitOf(name));
    say(`${name}: finishing the step and saving; once more stops at once`);
    abort(name);
  };
  onUnread = () => abort("SIGPIPE");
  process.on("SIGHUP", abort); // the terminal is gone: there is nobody to tell
  process.on("SIGINT", interrupted);
  process.on("SIGTERM", interrupted);
  return controller.signal;
}
