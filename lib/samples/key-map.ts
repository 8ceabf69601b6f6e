const KEY_CHARACTERS = 32;
const EMPTY = 0xffffffff;

interface Keyed {
  readonly rows: number;
  readonly columns: Readonly<Record<"key0" | "key1" | "key2" | "key3", ArrayLike<number>>>;
}

export type Key = readonly [number, number, number, number];

/** Undefined for text that is not 32 hex digits. */
export function keyOf(hex: unknown): Key | undefined {
  if (typeof hex !== "string" || hex.length !== KEY_CHARACTERS || !/^[0-9a-f]+$/.test(hex)) return undefined;
  const word = (i: number) => Number.parseInt(hex.slice(8 * i, 8 * i + 8), 16);
  return [word(0), word(1), word(2), word(3)];
}

export function hexOf({ columns }: Keyed, row: number): string {
  const words = [columns.key0[row]!, columns.key1[row]!, columns.key2[row]!, columns.key3[row]!];
  return words.map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** Hash map from a key to the last row that has it; rows are inserted in order. */
export class KeyMap {
  readonly #table: Keyed;
  #slots = new Uint32Array(1 << 12).fill(EMPTY);
  #entered = 0;
  #taken = 0;

  /** @param table whose keys are uniformly distributed, such as parts of SHA-256; keys are read from its rows */
  constructor(table: Keyed) {
    this.#table = table;
  }

  /** The last row that has the key; undefined if there is none. */
  find(key: Key): number | undefined {
    this.#enter();
    const row = this.#slots[this.#slotOf(key)]!;
    return row === EMPTY ? undefined : row;
  }

  /** Inserts the rows added since the last call. */
  #enter(): void {
    for (; this.#entered < this.#table.rows; this.#entered++) {
      if (2 * this.#taken >= this.#slots.length) this.#grow();
      this.#put(this.#entered);
    }
  }

  #put(row: number): void {
    const { key0, key1, key2, key3 } = this.#table.columns;
    const slot = this.#slotOf([key0[row]!, key1[row]!, key2[row]!, key3[row]!]);
    if (this.#slots[slot] === EMPTY) this.#taken += 1;
    this.#slots[slot] = row;
  }

  /** The slot that contains a key, or would. */
  #slotOf([a, b, c, d]: Key): number {
    const { key0, key1, key2, key3 } = this.#table.columns;
    const mask = this.#slots.length - 1;
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot]!;
      if (row === EMPTY) return slot;
      if (key0[row] === a && key1[row] === b && key2[row] === c && key3[row] === d) return slot;
    }
  }

  /** Grows the map so that it is at most half full with all current rows. */
  #grow(): void {
    const wanted = Math.max(2 * this.#slots.length, 2 ** Math.ceil(Math.log2(2 * this.#table.rows + 1)));
    this.#slots = new Uint32Array(wanted).fill(EMPTY);
    this.#taken = 0;
    for (let row = 0; row < this.#entered; row++) this.#put(row);
  }
}
