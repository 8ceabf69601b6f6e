/** A 64-bit hash of a sequence of numbers, by which equal simulations can be told from different ones. */
export class TraceHash {
  readonly #number = new Float64Array(1);
  readonly #words = new Uint32Array(this.#number.buffer);
  #high = 0x9e3779b9;
  #low = 0x85ebca6b;

  add(...numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#number[0] = number;
      this.#mix(this.#words[0]!, this.#words[1]!);
    }
  }

  /** 16 hex digits. */
  get text(): string {
    const hex = (word: number) => (word >>> 0).toString(16).padStart(8, "0");
    return hex(this.#high) + hex(this.#low);
  }

  #mix(low: number, high: number): void {
    this.#high = Math.imul(this.#high ^ low, 0x85ebca77);
    this.#high ^= this.#high >>> 13;
    this.#low = Math.imul(this.#low ^ high, 0xc2b2ae3d) ^ this.#high;
    this.#low ^= this.#low >>> 16;
    this.#high = Math.imul(this.#high ^ this.#low, 0x27d4eb2f);
  }
}
