import { Trust } from "../trust.ts";
import { EventStream, framed, type StreamEvent } from "./event-stream.ts";
import { MOST_REPEATED, type StepLog } from "./followed-log.ts";
import type { Row } from "./step-table.ts";
import { WatchedRun } from "./watched-run.ts";

const LOOK_MS = 500;

/**
 * Run folders that are watched together: polls them twice a second while there are listeners and sends them changes;
 * otherwise reads only on request.
 */
export class Watch {
  readonly runs: readonly WatchedRun[];
  readonly stream = new EventStream();
  /** What the folders' records may make this process execute on request. */
  readonly trust: Trust;
  #timer: NodeJS.Timeout | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;

  /** @param log how the log of a folder is read; default: all of it, and then new lines */
  constructor(dirs: readonly string[], trust = Trust.none(), log?: (dir: string) => StepLog) {
    this.trust = trust;
    this.runs = dirs.map((dir, i) => new WatchedRun(dir, i, log?.(dir)));
    this.look();
  }

  start(): void {
    this.#timer = setInterval(() => this.stream.listeners > 0 && this.look(), LOOK_MS).unref();
  }

  /** Reads new entries and notifies listeners. */
  look(): void {
    this.#lookedMs = performance.now();
    for (const run of this.runs) this.#look(run);
  }

  /** Ensures that the data is at most half a second old. Throws HONE_ERR_IO. */
  refresh(): void {
    if (performance.now() - this.#lookedMs >= LOOK_MS) this.look();
  }

  /** Positions up to which every log has been read. */
  get cursor(): string {
    return this.runs.map((run) => run.cursor).join("_");
  }

  /** Events that a reconnecting listener has missed, as they are sent. @param cursor of the last event it saw. */
  missed(cursor: string): string {
    const cursors = cursor.split("_");
    const reset = framed(RESET, this.cursor);
    if (cursors.length !== this.runs.length) return reset;
    const missed = this.runs.map((run, i) => run.since(cursors[i]!));
    if (missed.some((rows) => rows === undefined)) return reset;
    const steps = missed.flatMap((rows, run) => rows!.map(stepOf(run)));
    const states = this.runs.map((run): StreamEvent => ["run", run.info()]);
    return framed([...steps, ...states], this.cursor);
  }

  /** Sends the last changes and ends the stream. */
  close(): void {
    clearInterval(this.#timer);
    if (this.stream.listeners > 0) this.look();
    this.stream.close();
  }

  #look(run: WatchedRun): void {
    this.stream.send(eventsOf(run), this.cursor);
  }
}

const RESET: readonly StreamEvent[] = [["reset", {}]];

const stepOf =
  (run: number) =>
  ({ record }: Row): StreamEvent => ["step", { run, record }];

/** Events for the changes of a run. */
function eventsOf(watched: WatchedRun): readonly StreamEvent[] {
  const { rows, replaced, changed, status } = watched.look();
  if (replaced || rows.length > MOST_REPEATED) return RESET;
  const { run } = watched;
  const state: StreamEvent[] = changed ? [["run", watched.info()]] : [];
  const line: StreamEvent[] = status === undefined ? [] : [["line", { run, status }]];
  return [...rows.map(stepOf(run)), ...state, ...line];
}
