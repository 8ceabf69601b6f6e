/** Arithmetic on columns. @typedef {readonly (number | null | undefined)[]} Values */

/**
 * Centred mean over `window` entries, shorter at the ends; ignores missing entries; null where all are missing.
 * @param {Values} values @param {number} window @returns {(number | null)[]}
 */
export function movingMean(values, window) {
  const reach = Math.floor(window / 2);
  const sums = new Float64Array(values.length + 1);
  const counts = new Float64Array(values.length + 1);
  values.forEach((value, i) => {
    const there = value !== null && value !== undefined;
    sums[i + 1] = sums[i] + (there ? value : 0);
    counts[i + 1] = counts[i] + (there ? 1 : 0);
  });
  return values.map((_, i) => {
    const from = Math.max(0, i - reach);
    const to = Math.min(values.length, i + reach + 1);
    const count = counts[to] - counts[from];
    return count === 0 ? null : /** @type {number} */ (sums[to] - sums[from]) / count;
  });
}

/** Window of the moving mean: odd, about a twentieth of the run; 1 (no smoothing) below a dozen steps. @param {number} steps */
export const smoothingWindow = (steps) => (steps < 12 ? 1 : Math.max(3, 2 * Math.floor(steps / 40) + 1));

/** The first index whose entry is not less than `wanted`. @param {readonly number[]} ascending @param {number} wanted */
export function lowerBound(ascending, wanted) {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The entry nearest to `wanted`; undefined if there is none. @param {readonly number[]} ascending @param {number} wanted */
export function nearest(ascending, wanted) {
  const at = lowerBound(ascending, wanted);
  const [before, after] = [ascending[at - 1], ascending[at]];
  if (before === undefined || after === undefined) return before ?? after;
  return wanted - before <= after - wanted ? before : after;
}

/**
 * Columns with at most two points a pixel: of every stretch the smallest and the largest value, in the order they
 * occur, so that no peak is lost. As they are where there are no more points than that.
 * @param {readonly number[]} x ascending @param {readonly Values[]} columns each as long as `x` @param {number} pixels
 * @returns {{ x: number[], columns: (number | null)[][] }}
 */
export function thinned(x, columns, pixels) {
  const buckets = Math.max(1, Math.floor(pixels));
  if (x.length <= 2 * buckets)
    return { x: [...x], columns: columns.map((column) => Array.from(column, (value) => value ?? null)) };
  const start = (/** @type {number} */ b) => Math.floor((b * x.length) / buckets);
  const places = Array.from({ length: buckets }, (_, b) => [start(b), (start(b) + start(b + 1)) >> 1]).flat();
  return {
    x: places.map((at) => x[at]),
    columns: columns.map((column) =>
      Array.from({ length: buckets }, (_, b) => extremes(column, start(b), start(b + 1))).flat(),
    ),
  };
}

/** @param {Values} column @param {number} from @param {number} to @returns {[number | null, number | null]} */
function extremes(column, from, to) {
  let [low, high] = [-1, -1];
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = from; i < to; ++i) {
    const value = column[i];
    if (value === null || value === undefined) continue;
    if (value < least) [low, least] = [i, value];
    if (value > most) [high, most] = [i, value];
  }
  const first = column[Math.min(low, high)] ?? null;
  return [first, column[Math.max(low, high)] ?? null];
}

/**
 * Columns of several runs over one axis: the union of their steps.
 * @param {readonly { x: readonly number[], columns: readonly Values[] }[]} tables
 * @returns {{ x: readonly number[], columns: Values[] }}
 */
export function joined(tables) {
  if (tables.length === 1) return { x: tables[0]?.x ?? [], columns: [...(tables[0]?.columns ?? [])] };
  const x = [...new Set(tables.flatMap((table) => [...table.x]))].sort((a, b) => a - b);
  const rowOf = new Map(x.map((step, i) => [step, i]));
  const columns = tables.flatMap((table) =>
    table.columns.map((column) => {
      /** @type {(number | null)[]} */
      const wide = new Array(x.length).fill(null);
      table.x.forEach((step, i) => {
        wide[/** @type {number} */ (rowOf.get(step))] = column[i] ?? null;
      });
      return wide;
    }),
  );
  return { x, columns };
}
