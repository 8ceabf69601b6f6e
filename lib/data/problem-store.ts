import { deflateRawSync, inflateRawSync } from "node:zlib";

/** Texts longer than this many bytes are stored deflated; shorter ones would gain little. */
const DEFLATE_FROM = 4096;
const PAGE_BYTES = 1 << 22;

/**
 * JSON values stored outside the heap and read one at a time: a hundred thousand problems take the size of their text
 * and 8 bytes each, without objects for the garbage collector to trace. Long values (test cases) are deflated.
 */
export class ProblemStore {
  readonly #pages: Buffer[] = [];
  #page = Buffer.alloc(0);
  #used = 0;
  /**
   * For each value, page * 2^32 + offset of its place. The first 4 bytes at that place are the value's length,
   * negative if it is deflated.
   */
  readonly #places: number[] = [];

  get length(): number {
    return this.#places.length;
  }

  /** Bytes allocated, including the unused end of the last page. */
  get bytes(): number {
    return this.#pages.reduce((sum, page) => sum + page.length, 0) + this.#places.length * 8;
  }

  /** Stores a JSON value; its index is the previous `length`. */
  add(value: unknown): void {
    const text = Buffer.from(JSON.stringify(value));
    const deflated = text.length > DEFLATE_FROM;
    const body = deflated ? deflateRawSync(text, { level: 1 }) : text;
    this.#room(body.length + 4);
    this.#places.push((this.#pages.length - 1) * 2 ** 32 + this.#used);
    this.#page.writeInt32LE(deflated ? -body.length : body.length, this.#used);
    body.copy(this.#page, this.#used + 4);
    this.#used += body.length + 4;
  }

  /** A fresh copy of the value at an index. Trusts that the index exists. */
  at(index: number): unknown {
    const place = this.#places[index]!;
    const page = this.#pages[Math.floor(place / 2 ** 32)]!;
    const start = place % 2 ** 32;
    const length = page.readInt32LE(start);
    const body = page.subarray(start + 4, start + 4 + Math.abs(length));
    return JSON.parse((length < 0 ? inflateRawSync(body) : body).toString("utf8"));
  }

  #room(bytes: number): void {
    if (this.#used + bytes <= this.#page.length) return;
    this.#page = Buffer.allocUnsafeSlow(Math.max(PAGE_BYTES, bytes));
    this.#pages.push(this.#page);
    this.#used = 0;
  }
}
