import { once } from "node:events";
import { open } from "node:fs/promises";
import type { Writable } from "node:stream";
import type { Sending, Tracked, Tracker } from "./tracker.ts";

/** The path that stands for standard output. */
export const STDOUT = "-";

/**
 * Writes one JSON line per entry, with the run's id and name, to an append-only file or a stream. A slow or closed
 * reader (a pipe, a FIFO) does not block the run. A line with a lower step than the line before it replaces all lines
 * from that step on, as in steps.jsonl.
 */
export class JsonlTracker implements Tracker {
  readonly name: string;
  readonly #path: string;
  readonly #stream: Writable | undefined;
  /** Lines that the stream had not drained when `send` was given up. */
  #handedOver = "";

  /** @param stream used if `path` is STDOUT. */
  constructor(path: string, stream: Writable | undefined, name = "jsonl") {
    this.name = name;
    this.#path = path;
    this.#stream = stream;
  }

  async send(entries: readonly Tracked[], { run, signal }: Sending): Promise<undefined> {
    const lines = entries
      .map((entry) => `${JSON.stringify({ run: run.id, name: run.name, ...entry })}\n`)
      .join("");
    if (this.#stream !== undefined) await this.#write(this.#stream, lines, signal);
    else await appended(this.#path, lines);
    return undefined;
  }

  /** The stream buffers at most one batch: a batch that is still buffered is not written again. */
  async #write(stream: Writable, lines: string, signal: AbortSignal): Promise<void> {
    if (stream.destroyed || stream.errored) throw stream.errored ?? new Error("the stream is closed");
    if (stream.writableNeedDrain) await once(stream, "drain", { signal });
    const rest = lines.startsWith(this.#handedOver) ? lines.slice(this.#handedOver.length) : lines;
    this.#handedOver = "";
    if (rest === "" || stream.write(rest)) return;
    this.#handedOver = lines;
    await once(stream, "drain", { signal });
    this.#handedOver = "";
  }
}

async function appended(path: string, lines: string): Promise<void> {
  const file = await open(path, "a");
  try {
    await file.appendFile(lines);
  } finally {
    await file.close();
  }
}
