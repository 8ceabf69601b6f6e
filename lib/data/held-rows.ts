import { Column } from "./column.ts";

/** Characters of a content key, all ASCII. */
const KEY_BYTES = 22;
const PAGE_KEYS = 1 << 12;
/** Number of leading characters that are compared as one number; they decide most comparisons. */
const PREFIX_BYTES = 6;

/** A held-out row: its number and its content key. */
export interface HeldRow {
  readonly row: number;
  readonly key: string;
}

/** Held-out rows, stored outside the heap: 26 bytes each, where objects take 90. */
export class HeldRows implements Iterable<HeldRow> {
  readonly #rows = new Column();
  readonly #pages: Buffer[] = [];

  get length(): number {
    return this.#rows.length;
  }

  /** @param key of 22 characters */
  add({ row, key }: HeldRow): void {
    const at = this.length % PAGE_KEYS;
    if (at === 0) this.#pages.push(Buffer.allocUnsafeSlow(PAGE_KEYS * KEY_BYTES));
    this.#pages.at(-1)!.write(key, at * KEY_BYTES, KEY_BYTES, "latin1");
    this.#rows.push(row);
  }

  /** Row number at index `at`, in insertion order. Trusts that the index exists. */
  row(at: number): number {
    return this.#rows.at(at);
  }

  /** Content key at index `at`, in insertion order. Trusts that the index exists. */
  key(at: number): string {
    const [page, start] = this.#place(at);
    return page.toString("latin1", start, start + KEY_BYTES);
  }

  *[Symbol.iterator](): Generator<HeldRow, void, undefined> {
    for (let at = 0; at < this.length; at++) yield { row: this.row(at), key: this.key(at) };
  }

  /** Indices of the rows, sorted by content key. */
  byKey(): Uint32Array {
    const prefixes = Float64Array.from({ length: this.length }, (_, at) => {
      const [page, start] = this.#place(at);
      return page.readUIntBE(start, PREFIX_BYTES);
    });
    const places = Uint32Array.from({ length: this.length }, (_, at) => at);
    return places.sort((a, b) => prefixes[a]! - prefixes[b]! || (this.key(a) < this.key(b) ? -1 : 1));
  }

  #place(at: number): readonly [Buffer, number] {
    return [this.#pages[Math.floor(at / PAGE_KEYS)]!, (at % PAGE_KEYS) * KEY_BYTES];
  }
}
