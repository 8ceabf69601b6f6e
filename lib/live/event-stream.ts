import type { ServerResponse } from "node:http";
import type { StreamEvents } from "./wire.ts";

/** Line that is sent regularly so that proxies and browsers do not close an idle stream. */
const HEARTBEAT_MS = 15_000;
/** Pause after which the page reconnects when the stream breaks. */
const RETRY_MS = 1000;
/** A reader with this many unread bytes has stopped reading. */
const MOST_UNREAD_BYTES = 16 << 20;

/** An event: its name and its data. */
export type StreamEvent = { [E in keyof StreamEvents]: readonly [E, StreamEvents[E]] }[keyof StreamEvents];

/** Sends server-sent events to all listeners. */
export class EventStream {
  readonly #listeners = new Set<ServerResponse>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor() {
    this.#heartbeat = setInterval(() => this.#write(":\n\n"), HEARTBEAT_MS).unref();
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  add(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(`retry: ${RETRY_MS}\n\n`);
    this.#listeners.add(response);
    response.on("close", () => this.#listeners.delete(response));
  }

  /** @param id reported by a listener that reconnects after it received all of these events */
  send(events: readonly StreamEvent[], id: string): void {
    if (this.#listeners.size > 0 && events.length > 0) this.#write(framed(events, id));
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const response of this.#listeners) response.end();
    this.#listeners.clear();
  }

  #write(text: string): void {
    for (const response of this.#listeners) {
      if (response.writableLength > MOST_UNREAD_BYTES) response.destroy();
      else response.write(text);
    }
  }
}

/**
 * Encodes events for the stream. Only the last one has the id: if the connection breaks before it, all of them are
 * sent again. JSON text contains no line breaks, so the data is one line.
 */
export function framed(events: readonly StreamEvent[], id: string): string {
  const frames = events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n`);
  return `${frames.join("\n")}id: ${id}\n\n`;
}
