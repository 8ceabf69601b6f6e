import { EventStream, framed } from "./event-stream.ts";
import { WatchedRun } from "./watched-run.ts";

const LOOK_MS = 500;
/** Who missed more steps than that loads them as columns. */
const MOST_REPEATED = 500;

/**
 * Run folders that are watched together: while somebody listens it looks at them twice a second and tells the stream what
 * is new; otherwise it looks only when asked.
 */
export class Watch {
  readonly runs: readonly WatchedRun[];
  readonly stream = new EventStream();
  #timer: NodeJS.Timeout | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(dirs: readonly string[]) {
    this.runs = dirs.map((dir, i) => new WatchedRun(dir, i));
    this.look();
  }

  start(): void {
    this.#timer = setInterval(() => this.stream.listeners > 0 && this.look(), LOOK_MS).unref();
  }

  /** Reads what is new and tells it. */
  look(): void {
    this.#lookedMs = performance.now();
    for (const run of this.runs) this.#look(run);
  }

  /** Sees to it that what is known is half a second old at most. Throws HONE_ERR_IO. */
  refresh(): void {
    if (performance.now() - this.#lookedMs >= LOOK_MS) this.look();
  }

  /** Where every log has been read to. */
  get cursor(): string {
    return this.runs.map((run) => run.cursor).join("_");
  }

  /** What a listener that comes back has missed, as it is sent. @param cursor of the last event it saw. */
  missed(cursor: string): string {
    const cursors = cursor.split("_");
    const reset = framed("reset", {}, this.cursor);
    if (cursors.length !== this.runs.length) return reset;
    const missed = this.runs.map((run, i) => run.since(cursors[i]!));
    if (missed.some((rows) => rows === undefined || rows.length > MOST_REPEATED)) return reset;
    const steps = missed.flatMap((rows, run) =>
      rows!.map(({ record }) => framed("step", { run, record }, this.cursor)),
    );
    return steps.join("") + this.runs.map((run) => framed("run", run.info(), this.cursor)).join("");
  }

  /** Tells what is new, for the last time. */
  close(): void {
    clearInterval(this.#timer);
    if (this.stream.listeners > 0) this.look();
    this.stream.close();
  }

  #look(run: WatchedRun): void {
    const { rows, replaced, changed, status } = run.look();
    const { cursor, stream } = this;
    if (replaced || rows.length > MOST_REPEATED) {
      stream.send("reset", {}, cursor);
      return;
    }
    for (const { record } of rows) stream.send("step", { run: run.run, record }, cursor);
    if (changed) stream.send("run", run.info(), cursor);
    if (status !== undefined) stream.send("line", { run: run.run, status }, cursor);
  }
}
