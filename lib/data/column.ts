const PAGE_BITS = 16;
const PAGE = 1 << PAGE_BITS;

type Numbers = Uint32Array | Float64Array;

/** A list of numbers that grows a page at a time: a million of them cost 4 or 8 bytes each, and growing copies none. */
export class Column {
  readonly #pages: Numbers[] = [];
  readonly #make: (length: number) => Numbers;
  length = 0;

  /** @param kind "uint32" or "double" */
  constructor(kind: "uint32" | "double") {
    this.#make =
      kind === "uint32" ? (length) => new Uint32Array(length) : (length) => new Float64Array(length);
  }

  push(value: number): void {
    const at = this.length & (PAGE - 1);
    if (at === 0) this.#pages.push(this.#make(PAGE));
    this.#pages[this.length >>> PAGE_BITS]![at] = value;
    this.length += 1;
  }

  /** Trusts that there is one. */
  at(index: number): number {
    return this.#pages[index >>> PAGE_BITS]![index & (PAGE - 1)]!;
  }
}
