import { statSync } from "node:fs";
import { type Line, linesOf } from "../metrics/index.ts";

/** A growing file of lines, read from where the last look ended. */
export class Tail {
  readonly #path: string;
  #id = "";
  #end = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Identifies the file that is read: changes when another file replaces it. Empty if there is none. */
  get id(): string {
    return this.#id;
  }

  /** Bytes read, all of whole lines. */
  get end(): number {
    return this.#end;
  }

  /**
   * Yields complete lines since the last call. If the file was replaced or truncated, yields all of it, after
   * `onReplaced`; none if there is no file. Throws HONE_ERR_IO.
   */
  *lines(onReplaced: () => void): Generator<Line, void, undefined> {
    const stat = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    const id = stat?.isFile() ? `${stat.ino}-${stat.birthtimeNs}` : ""; // a new file may have the inode of a deleted one
    const size = Number(stat?.size ?? 0);
    if (id !== this.#id || size < this.#end) {
      this.#id = id;
      this.#end = 0;
      onReplaced();
    }
    if (id === "" || size === this.#end) return;
    for (const line of linesOf(this.#path, { start: this.#end, end: size })) {
      this.#end = line.bytes.end;
      yield line;
    }
  }
}
