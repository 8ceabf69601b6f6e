import { constants } from "node:os";
import { type ErrorCode, HoneError } from "../errors.ts";
import { flow } from "../report/ansi.ts";
import { printedColumns } from "../report/terminal.ts";
import { visibleText } from "../shared/text/visible-text.ts";

/** Exit codes of the commands. A process stopped by a signal exits with 128 plus the signal's number, as in a shell. */
export const EXIT = { done: 0, bug: 1, usage: 2, environment: 3, data: 4, aborted: 130 } as const;

const exitOf = (signal: NodeJS.Signals) => 128 + constants.signals[signal];

const BY_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  HONE_ERR_CONFIG: EXIT.usage,
  HONE_ERR_USAGE: EXIT.usage,
  HONE_ERR_TRUST: EXIT.usage,
  HONE_ERR_NATIVE_LOAD: EXIT.environment,
  HONE_ERR_OUT_OF_MEMORY: EXIT.environment,
  HONE_ERR_CUDA: EXIT.environment,
  HONE_ERR_COLLECTIVE: EXIT.environment,
  HONE_ERR_UNSUPPORTED: EXIT.environment,
  HONE_ERR_IO: EXIT.environment,
  HONE_ERR_HUB: EXIT.environment,
  HONE_ERR_ENDPOINT: EXIT.environment,
  HONE_ERR_STREAM: EXIT.environment,
  HONE_ERR_DATA: EXIT.data,
  HONE_ERR_VERIFIER: EXIT.data,
  HONE_ERR_OBJECTIVE: EXIT.usage,
  HONE_ERR_CHECKPOINT: EXIT.data,
  HONE_ERR_FORMAT: EXIT.data,
  HONE_ERR_REPLAY: EXIT.data,
  HONE_ERR_NON_FINITE: EXIT.usage, // the hint names a field of the recipe
  HONE_ERR_ABORTED: EXIT.aborted,
};

/** True for errors of node:util's parseArgs about a command line. */
const isUsage = (error: unknown): error is Error =>
  error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith("ERR_PARSE_ARGS_");

/** Exit code of the `hone` command for an error, as docs/reference/errors.md lists them. */
export function exitCodeOf(error: unknown): number {
  if (isUsage(error)) return EXIT.usage;
  if (!HoneError.is(error)) return EXIT.bug;
  const { signal } = error.details;
  if (error.code === "HONE_ERR_ABORTED" && signal !== undefined) return exitOf(signal as NodeJS.Signals);
  return BY_CODE[error.code] ?? EXIT.bug;
}

/**
 * True if running the recipe again, with this version on the same kind of machine, would fail with this error again.
 */
export function isNonRetryable(error: unknown): boolean {
  const code = exitCodeOf(error);
  const isUnsupported = HoneError.is(error) && error.code === "HONE_ERR_UNSUPPORTED";
  return code === EXIT.usage || code === EXIT.data || isUnsupported;
}

/** Formats an error for the user: code, message and hint; the stack too if it is not a HoneError. */
export function explain(error: unknown): string {
  if (isUsage(error)) return `HONE_ERR_USAGE  ${error.message}\n  hint: --help lists the options.`;
  if (!HoneError.is(error)) return error instanceof Error ? (error.stack ?? String(error)) : String(error);
  const cause =
    error.cause instanceof Error && !error.message.includes(error.cause.message) ? error.cause : undefined;
  return visibleText(
    [
      `${error.code}  ${error.message}`,
      ...(error.hint === undefined ? [] : hintLines(error.hint)),
      ...(cause === undefined ? [] : [`  cause: ${cause.message}`]),
    ].join("\n"),
  );
}

/** Wraps a hint to the terminal's width; elsewhere keeps it on one line. */
function hintLines(hint: string): string[] {
  const [first, ...rest] = flow(hint.split(" "), printedColumns(process.stderr) - HINT.length, " ");
  return [`${HINT}${first}`, ...rest.map((line) => `${" ".repeat(HINT.length)}${line}`)];
}
const HINT = "  hint: ";

/** Called when the reader of this command's output has closed the pipe; a run replaces it, so that it saves first. */
let onUnread = (): void => process.exit(EXIT.done);

/**
 * Keeps a closed output (`hone run ... | head`, a closed terminal, a full disk under `> log`) from crashing the
 * process: commands exit quietly, and those that use an `interruptSignal` are interrupted.
 */
export function tolerateLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => onUnread());
}

/** Runs an entry script. An error is explained on stderr and becomes the exit code; otherwise the returned number does. */
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
 * Returns a signal that aborts on the first SIGINT, SIGTERM or SIGHUP, or when the reader of the output has gone
 * (SIGPIPE), so that a run drains and saves. The second SIGINT or SIGTERM ends the process at once, unless `patient`
 * is set: launchers signal a process and also its parent, which passes the signal on. The abort reason is a
 * HONE_ERR_ABORTED, which `exitCodeOf` maps to 130, 143, 129 or 141.
 */
export function interruptSignal(say: (line: string) => void, patient = false): AbortSignal {
  const controller = new AbortController();
  const abort = (signal: NodeJS.Signals) =>
    controller.abort(new HoneError("HONE_ERR_ABORTED", `stopped by ${signal}`, { details: { signal } }));
  const interrupted = (name: NodeJS.Signals) => {
    if (controller.signal.aborted && patient) return;
    if (controller.signal.aborted) process.exit(exitOf(name));
    say(`${name}: finishing the step and saving${patient ? "" : "; once more stops at once"}`);
    abort(name);
  };
  onUnread = () => abort("SIGPIPE");
  process.on("SIGHUP", abort); // the terminal is closed, so a message would not be seen
  process.on("SIGINT", interrupted);
  process.on("SIGTERM", interrupted);
  return controller.signal;
}

/**
 * Makes a signal end the command by process.exit, which also ends the processes it started. For commands without
 * state to save.
 */
export function endAtSignals(): void {
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(name, () => process.exit(exitOf(name)));
}

/**
 * For a process that another Hone process started over a channel (a run of a sweep): treats the end of the parent as a
 * SIGHUP, so that the run saves and stops even if the parent was killed.
 */
export function endWithParent(): void {
  const hangUp = () => void process.kill(process.pid, "SIGHUP");
  if (process.connected === false) hangUp(); // the parent ended while this process was loading
  if (process.channel === undefined || process.channel === null) return;
  process.once("disconnect", hangUp);
  process.channel.unref();
}
