import { closeSync, constants, type FSWatcher, mkdirSync, openSync, watch, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32c } from "../../crc32c.ts";

/** Topics that share one wake each other for nothing. */
const BELLS = 64;
/** Strokes of a bell after which a process to which none of them mattered is told no more. */
const UNHEEDED = 8;
const STROKE = Uint8Array.of(1);
const MADE_IF_MISSING = constants.O_RDWR | constants.O_CREAT;

interface Watched {
  readonly topics: Set<string>;
  readonly watcher: FSWatcher;
  /** Since somebody asked for one of its topics. */
  strokes: number;
}

/**
 * Small files beside the streams, one for some topics each. Who has changed a topic writes to its file afterwards, and the
 * system tells those processes that watch it, and no others.
 */
export class Bells {
  readonly #folder: string;
  readonly #files = new Map<number, number>();
  readonly #watched = new Map<number, Watched>();

  /** @param path of the file of streams. Throws what the file system says. */
  constructor(path: string) {
    this.#folder = `${path}-bells`;
    mkdirSync(this.#folder, { recursive: true });
  }

  /** What was changed can be read by now. A stroke that fails is noticed late: waiters look without it, too. */
  ring(topics: Iterable<string>): void {
    for (const bell of new Set([...topics].map(bellOf)))
      try {
        writeSync(this.#file(bell), STROKE, 0, 1, 0);
      } catch {}
  }

  /**
   * From now on `tell` is called when the topic rings; no change before the call is told. After some rings without another
   * call it is told no more: each wakes the process. Throws where nobody tells.
   */
  watch(topic: string, tell: (topic: string) => void): void {
    const bell = bellOf(topic);
    const known = this.#watched.get(bell);
    if (known !== undefined) {
      known.topics.add(topic);
      known.strokes = 0;
      return;
    }
    this.#file(bell); // it has to be there
    const watcher = watch(this.#path(bell), () => this.#rung(bell, tell));
    this.#watched.set(bell, { topics: new Set([topic]), watcher: watcher.on("error", () => {}), strokes: 0 });
  }

  #rung(bell: number, tell: (topic: string) => void): void {
    const watched = this.#watched.get(bell);
    if (watched === undefined) return;
    watched.strokes += 1;
    if (watched.strokes === UNHEEDED) {
      watched.watcher.close();
      this.#watched.delete(bell);
    }
    for (const each of watched.topics) tell(each);
  }

  close(): void {
    for (const { watcher } of this.#watched.values()) watcher.close();
    for (const file of this.#files.values()) closeSync(file);
    this.#watched.clear();
    this.#files.clear();
  }

  #file(bell: number): number {
    const file = this.#files.get(bell) ?? openSync(this.#path(bell), MADE_IF_MISSING);
    this.#files.set(bell, file);
    return file;
  }

  #path(bell: number): string {
    return join(this.#folder, String(bell));
  }
}

const bellOf = (topic: string): number => crc32c(Buffer.from(topic)) % BELLS;
