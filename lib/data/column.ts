const PAGE_BITS = 16;
const PAGE = 1 << PAGE_BITS;

/** A growing list of 32-bit numbers, stored in pages: a million of them take 4 bytes each, and growing copies none. */
export class Column {
  readonly #pages: Uint32Array[] = [];
  length = 0;

  push(value: number): void {
    const at = this.length & (PAGE - 1);
    if (at === 0) this.#pages.push(new Uint32Array(PAGE));
    this.#pages[this.length >>> PAGE_BITS]![at] = value;
    this.length += 1;
  }

  /** Does not check that the index exists. */
  at(index: number): number {
    return this.#pages[index >>> PAGE_BITS]![index & (PAGE - 1)]!;
  }
}

/** Mostly increasing integers, such as file offsets: 4 bytes each, or 8 in a page where two are too far apart. */
export class Places {
  /** For each page of the column the first number and the offsets from it, or all numbers if offsets would not fit. */
  readonly #pages: { readonly first: number; numbers: Uint32Array | Float64Array }[] = [];
  length = 0;

  push(value: number): void {
    const at = this.length & (PAGE - 1);
    if (at === 0) this.#pages.push({ first: value, numbers: new Uint32Array(PAGE) });
    const page = this.#pages.at(-1)!;
    const more = value - page.first;
    if (page.numbers instanceof Uint32Array && more !== more >>> 0)
      page.numbers = Float64Array.from(page.numbers, (less) => page.first + less);
    page.numbers[at] = page.numbers instanceof Uint32Array ? more : value;
    this.length += 1;
  }

  /** Does not check that the index exists. */
  at(index: number): number {
    const { first, numbers } = this.#pages[index >>> PAGE_BITS]!;
    const number = numbers[index & (PAGE - 1)]!;
    return numbers instanceof Uint32Array ? first + number : number;
  }
}

/** Mostly consecutive integers, such as line numbers: 8 bytes for each number that does not follow its predecessor. */
export class Lines {
  /** Indices at which a number does not follow its predecessor, and the number there. */
  readonly #starts = new Column();
  readonly #numbers = new Column();
  #next = 0;
  length = 0;

  push(value: number): void {
    if (this.length === 0 || value !== this.#next) {
      this.#starts.push(this.length);
      this.#numbers.push(value);
    }
    this.#next = value + 1;
    this.length += 1;
  }

  /** Does not check that the index exists. */
  at(index: number): number {
    let [from, to] = [0, this.#starts.length];
    while (to - from > 1) {
      const middle = (from + to) >>> 1;
      if (this.#starts.at(middle) <= index) from = middle;
      else to = middle;
    }
    return this.#numbers.at(from) + index - this.#starts.at(from);
  }
}
