import { inUnits } from "../plan/units.ts";
import { clip } from "../report/ansi.ts";
import { columnsOf, isLive } from "../report/terminal.ts";

/** Milliseconds between two updates: of a line that is overwritten, and of lines in a log. */
const TTY_MS = 100;
const LOG_MS = 5_000;

export interface Progress {
  /** @param isLast shown at any time, because nothing follows. */
  show(text: string, isLast?: boolean): void;
  /** Ends the progress line that is being overwritten; does nothing if no progress was shown. */
  end(): void;
}

export interface ProgressOptions {
  /** Writes to the terminal, without a newline. Default stderr. */
  readonly say?: (text: string) => void;
  /** True if the last line can be overwritten. Default: true if stderr is a terminal outside a CI service. */
  readonly isLive?: boolean;
  /** Returns the time in milliseconds. */
  readonly now?: () => number;
}

/** Shows progress: on a terminal one line, ten times a second at most; elsewhere a new line every five seconds. */
export function progress(options: ProgressOptions = {}): Progress {
  const { say = (text) => void process.stderr.write(text), isLive: live = isLive(process.stderr) } = options;
  const { now = () => performance.now() } = options;
  let shownAt = Number.NEGATIVE_INFINITY;
  let shown = "";
  return {
    show(text, isLast = false) {
      const at = now();
      if (text === shown || (at - shownAt < (live ? TTY_MS : LOG_MS) && !isLast)) return;
      say(live ? `\r${clip(text.padEnd(shown.length), columnsOf(process.stderr) - 1)}` : `${text}\n`);
      shownAt = at;
      shown = text;
    },
    end: () => (live && shown !== "" ? say("\n") : undefined),
  };
}

/** Shows bytes: "what  1.0 GiB of 2.0 GiB (50 %)". */
function showBytes(line: Progress, what: string, done: number, total: number): void {
  const percent = total > 0 ? Math.floor((100 * done) / total) : 100;
  line.show(`${what}  ${inUnits(done)} of ${inUnits(total)} (${percent} %)`, done >= total);
}

/** Reports that `work` is still running and for how many seconds, each second or each `everyMs`, first after one interval. */
export async function whileWaiting<T>(
  work: Promise<T>,
  told: (seconds: number) => void,
  everyMs = 1000,
): Promise<T> {
  const begun = performance.now();
  const timer = setInterval(() => told((performance.now() - begun) / 1000), everyMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Progress callback and stop signal of long work. */
export interface Told {
  show(what: string, done: number, total: number): void;
  readonly signal: AbortSignal;
}

/** Runs `work` with a progress line; Ctrl-C stops it. */
export async function withProgress<T>(
  work: (told: Told) => Promise<T>,
  options: ProgressOptions = {},
): Promise<T> {
  const line = progress(options);
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once("SIGINT", stop);
  try {
    return await work({
      show: (what, done, total) => showBytes(line, what, done, total),
      signal: controller.signal,
    });
  } finally {
    line.end();
    process.removeListener("SIGINT", stop);
  }
}
