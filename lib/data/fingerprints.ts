import { Column } from "./column.ts";

const FIRST_SLOTS = 1 << 10;

/**
 * Finds repeated contents by 64-bit hashes, at 16 bytes a row. For a million different rows, the probability that two
 * of them are taken for equal is one in 37 million.
 */
export class Fingerprints {
  /** First hash of each row, by number. */
  readonly first = new Column();
  readonly #second = new Column();
  /** Hash table whose slots hold a row's number + 1; 0: a free slot. */
  #slots = new Uint32Array(FIRST_SLOTS);

  /** Number of the earlier row with these hashes; undefined for a new row, which gets the next number. */
  add(first: number, second: number): number | undefined {
    if (2 * (this.first.length + 1) > this.#slots.length) this.#grow();
    const slot = this.#slotOf(first, second);
    const known = this.#slots[slot]!;
    if (known > 0) return known - 1;
    this.first.push(first);
    this.#second.push(second);
    this.#slots[slot] = this.first.length;
    return undefined;
  }

  #slotOf(first: number, second: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = second & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot]! - 1;
      if (row < 0 || (this.first.at(row) === first && this.#second.at(row) === second)) return slot;
    }
  }

  #grow(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (let row = 0; row < this.first.length; row++)
      this.#slots[this.#slotOf(this.first.at(row), this.#second.at(row))] = row + 1;
  }
}
