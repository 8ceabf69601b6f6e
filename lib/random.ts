/**
 * Counter-based randomness: draw i of a stream is a function of (seed, stream, i) and of nothing else, so any
 * draw can be recomputed without its predecessors and no order of work changes a result.
 */

const ROUND_0 = 0xd2511f53;
const ROUND_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;

/** Keeps these streams apart from the engine's, which uses the run seed itself as its Philox key. */
const KEY_SALT_0 = 0x484f4e45;
const KEY_SALT_1 = 0x44415441;

export type Words4 = readonly [number, number, number, number];

/** High 32 bits of the 64-bit product of two unsigned 32-bit words. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const cross = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(cross / 0x10000)) >>> 0;
}

/** Runs Philox4x32-10 on out = counter, in place. */
function philoxInPlace(out: Uint32Array, key0: number, key1: number): void {
  let c0 = out[0]!;
  let c1 = out[1]!;
  let c2 = out[2]!;
  let c3 = out[3]!;
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(ROUND_0, c0);
    const low0 = Math.imul(ROUND_0, c0);
    const high1 = multiplyHigh(ROUND_1, c2);
    const low1 = Math.imul(ROUND_1, c2);
    c0 = (high1 ^ c1 ^ key0) >>> 0;
    c1 = low1 >>> 0;
    c2 = (high0 ^ c3 ^ key1) >>> 0;
    c3 = low0 >>> 0;
    key0 = (key0 + WEYL_0) >>> 0;
    key1 = (key1 + WEYL_1) >>> 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/**
 * Philox4x32-10: four 32-bit words from a 128-bit counter and a 64-bit key, all unsigned.
 * Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; Random123 kat_vectors.
 */
export function philox4x32(counter: Words4, key: readonly [number, number]): Words4 {
  const words = Uint32Array.from(counter);
  philoxInPlace(words, key[0] >>> 0, key[1] >>> 0);
  return [words[0]!, words[1]!, words[2]!, words[3]!];
}

/** Two words to a double in [0, 1) with all 53 bits random: ((high >> 5) 2^26 + (low >> 6)) 2^-53. */
export function u53(high: number, low: number): number {
  return ((high >>> 5) * 0x4000000 + (low >>> 6)) * 2 ** -53;
}

/**
 * The stream of draws named by (seed, stream[0..2]); `position` is the number of draws made, and may be set:
 * draw i is the same whether reached by i calls or by `position = i`.
 */
export class CounterRandom {
  /** Index of the next draw; each call of next, int, choice or weighted makes one draw, shuffle n - 1. */
  position = 0;
  readonly #key0: number;
  readonly #key1: number;
  readonly #stream: readonly [number, number, number];
  readonly #words = new Uint32Array(4);
  #block = -1;

  /** @param seed a safe integer >= 0. @param stream up to three 32-bit words; missing ones are 0. */
  constructor(seed: number, stream0 = 0, stream1 = 0, stream2 = 0) {
    if (!Number.isSafeInteger(seed) || seed < 0)
      throw new RangeError(`seed is ${seed}, expected a safe integer >= 0`);
    this.#key0 = ((seed >>> 0) ^ KEY_SALT_0) >>> 0;
    this.#key1 = (Math.floor(seed / 0x100000000) ^ KEY_SALT_1) >>> 0;
    this.#stream = [stream0 >>> 0, stream1 >>> 0, stream2 >>> 0];
  }

  /** Uniform in [0, 1), 53 random bits. */
  next(): number {
    const block = Math.floor(this.position / 2);
    const words = this.#words;
    if (block !== this.#block) {
      const stream = this.#stream;
      words[0] = block;
      words[1] = stream[0];
      words[2] = stream[1];
      words[3] = stream[2];
      philoxInPlace(words, this.#key0, this.#key1);
      this.#block = block;
    }
    const odd = this.position & 1;
    this.position += 1;
    return odd === 0 ? u53(words[0]!, words[1]!) : u53(words[2]!, words[3]!);
  }

  /** Uniform over low..high, both included. Bias below 2^-40 for ranges under 2^13. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** A uniformly random element of an array that is not empty. */
  choice<T>(items: ArrayLike<T>): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** An index, with probability proportional to its weight. Trusts weights >= 0 with a positive sum. */
  weighted(weights: readonly number[]): number {
    let left = this.next() * weights.reduce((sum, w) => sum + w, 0);
    let last = 0;
    for (let index = 0; index < weights.length; index++) {
      const weight = weights[index]!;
      if (weight <= 0) continue;
      left -= weight;
      if (left < 0) return index;
      last = index;
    }
    return last; // rounding used up the whole sum
  }

  /** A uniformly shuffled copy (Fisher-Yates from the end). */
  shuffle<T>(items: readonly T[]): T[] {
    const out = [...items];
    for (let i = out.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      const moved = out[i] as T;
      out[i] = out[j] as T;
      out[j] = moved;
    }
    return out;
  }

  /** Shuffles numbers in place, into the same order as `shuffle`. */
  shuffleNumbers(numbers: Uint32Array): Uint32Array {
    for (let i = numbers.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      const moved = numbers[i]!;
      numbers[i] = numbers[j]!;
      numbers[j] = moved;
    }
    return numbers;
  }

  /** `count` distinct elements in random order. */
  sample<T>(items: readonly T[], count: number): T[] {
    return this.shuffle(items).slice(0, count);
  }
}
