/** Running count, mean, spread and extremes in f64 of what was added; `mean` and the rest are NaN when empty. */
export class Moments {
  n = 0;
  sum = 0;
  min = Number.NaN;
  max = Number.NaN;
  #mean = 0;
  #squares = 0;

  add(value: number): void {
    this.n += 1;
    this.sum += value;
    const delta = value - this.#mean;
    this.#mean += delta / this.n;
    this.#squares += delta * (value - this.#mean);
    if (!(value >= this.min)) this.min = value;
    if (!(value <= this.max)) this.max = value;
  }

  get mean(): number {
    return this.n === 0 ? Number.NaN : this.sum / this.n;
  }

  /** Population standard deviation. */
  get std(): number {
    return this.n === 0 ? Number.NaN : Math.sqrt(this.#squares / this.n);
  }
}

/** One accumulator per key, created on first use. */
export class MomentsBy<K extends string | number> {
  readonly #moments = new Map<K, Moments>();

  add(key: K, value: number): void {
    let moments = this.#moments.get(key);
    if (moments === undefined) {
      moments = new Moments();
      this.#moments.set(key, moments);
    }
    moments.add(value);
  }

  entries(): Iterable<[K, Moments]> {
    return this.#moments;
  }
}

/**
 * Quantiles at `qs` (ascending, in [0, 1]) by linear interpolation between order statistics (type 7); NaN when empty.
 * Reorders `values`. Linear time: a step has thousands of tokens, and sorting them is most of a millisecond.
 */
export function quantilesOf(values: Float64Array, qs: readonly number[]): number[] {
  const last = values.length - 1;
  let from = 0;
  return qs.map((q) => {
    if (last < 0) return Number.NaN;
    const position = q * last;
    const below = Math.floor(position);
    const low = select(values, below, from);
    from = below;
    const high = below < last ? select(values, below + 1, below) : low;
    return low + (position - below) * (high - low);
  });
}

/** Moves the k-th smallest to index k, smaller ones before it; entries before `from` are known to be in place. */
function select(values: Float64Array, k: number, from: number): number {
  let low = from;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1]!;
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i]! < pivot) i += 1;
      while (values[j]! > pivot) j -= 1;
      if (i > j) break;
      const swap = values[i]!;
      values[i] = values[j]!;
      values[j] = swap;
      i += 1;
      j -= 1;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
  }
  return values[k]!;
}

/** Collects metrics. A value that is undefined or not finite leaves no name behind. */
export class MetricSheet {
  readonly values: Record<string, number> = {};

  put(name: string, value: number | undefined): void {
    if (value !== undefined && Number.isFinite(value)) this.values[name] = value;
  }

  /** `numerator / denominator`; absent if the denominator is 0. */
  share(name: string, numerator: number, denominator: number): void {
    if (denominator > 0) this.put(name, numerator / denominator);
  }

  /** `<prefix>/p<100q>` for each q, ascending; reorders `values`. */
  quantiles(prefix: string, values: Float64Array, qs: readonly number[]): void {
    const found = quantilesOf(values, qs);
    qs.forEach((q, i) => {
      this.put(`${prefix}/p${Number((q * 100).toFixed(3))}`, found[i]);
    });
  }
}
