import { statSync } from "node:fs";
import { type Line, linesOf } from "../metrics/index.ts";

/** A growing file of lines, read from where the last look ended. */
export class Tail {
  readonly #path: string;
  #inode = 0;
  #end = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Identifies the file that is read: another one has taken its place when this changes. 0: there is none. */
  get inode(): number {
    return this.#inode;
  }

  /** Bytes read, all of whole lines. */
  get end(): number {
    return this.#end;
  }

  /**
   * Whole lines since the last look. Where the file was replaced or cut short, all of it, after `onReplaced`; none
   * where there is no file. Throws HONE_ERR_IO.
   */
  *lines(onReplaced: () => void): Generator<Line, void, undefined> {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    const inode = stat?.isFile() ? stat.ino : 0;
    if (inode !== this.#inode || (stat?.size ?? 0) < this.#end) {
      this.#inode = inode;
      this.#end = 0;
      onReplaced();
    }
    if (inode === 0 || stat!.size === this.#end) return;
    for (const line of linesOf(this.#path, { start: this.#end, end: stat!.size })) {
      this.#end = line.bytes.end;
      yield line;
    }
  }
}
