import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type StreamStore, serveStore } from "../../../lib/streams/index.ts";
import type { DriverUnderTest, Place } from "../place.ts";

/** A folder with a socket at which this process serves run "r". */
export class SocketPlace implements Place {
  readonly dir = mkdtempSync(join(tmpdir(), "hone-socket-"));
  readonly path = join(this.dir, "store.sock");
  readonly url = `unix:${this.path}`;
  readonly #opened: StreamStore[] = [];
  readonly #givesOwn: boolean;
  /** The store of the process that serves the socket. */
  own!: StreamStore;

  private constructor(givesOwn: boolean) {
    this.#givesOwn = givesOwn;
  }

  /** @param givesOwn if true, `open` first returns the serving process's own store */
  static async serve(givesOwn = false): Promise<SocketPlace> {
    const place = new SocketPlace(givesOwn);
    place.own = await serveStore(place.url, { run: "r" });
    return place;
  }

  async open(): Promise<StreamStore> {
    const isFirst = this.#opened.length === 0;
    const store =
      isFirst && this.#givesOwn ? this.own : await openStore(this.url, { run: "r", mustExist: true });
    this.#opened.push(store);
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#opened) await store.close();
    await this.own.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export const socketsUnderTest: readonly DriverUnderTest[] = [
  { name: "two clients of a socket", place: () => SocketPlace.serve() },
  { name: "the process that serves a socket, and a client", place: () => SocketPlace.serve(true) },
];
