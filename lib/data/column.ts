const PAGE_BITS = 16;
const PAGE = 1 << PAGE_BITS;

/** A list of numbers of 32 bits that grows a page at a time: a million of them cost 4 bytes each, and growing copies none. */
export class Column {
  readonly #pages: Uint32Array[] = [];
  length = 0;

  push(value: number): void {
    const at = this.length & (PAGE - 1);
    if (at === 0) this.#pages.push(new Uint32Array(PAGE));
    this.#pages[this.length >>> PAGE_BITS]![at] = value;
    this.length += 1;
  }

  /** Trusts that there is one. */
  at(index: number): number {
    return this.#pages[index >>> PAGE_BITS]![index & (PAGE - 1)]!;
  }
}

/** Whole numbers that mostly grow, as places in a file do: 4 bytes each, and 8 in a page of which two are further apart. */
export class Places {
  /** Of each page the first number, and what the others are more than it; or the numbers themselves. */
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

  /** Trusts that there is one. */
  at(index: number): number {
    const { first, numbers } = this.#pages[index >>> PAGE_BITS]!;
    const number = numbers[index & (PAGE - 1)]!;
    return numbers instanceof Uint32Array ? first + number : number;
  }
}

/** Whole numbers of which each is mostly the one before and one more, as lines are: 8 bytes where it is not. */
export class Lines {
  /** Where a number does not follow, and the number there. */
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

  /** Trusts that there is one. */
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
