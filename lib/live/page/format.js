/** @param {number} value @param {number} digits */
export const significant = (value, digits) => String(Number(value.toPrecision(digits)));

/** "26.1k", "512", "0.0031". @param {number} value */
export function short(value) {
  const size = Math.abs(value);
  if (size >= 1e9) return `${significant(value / 1e9, 3)}G`;
  if (size >= 1e6) return `${significant(value / 1e6, 3)}M`;
  if (size >= 1e4) return `${significant(value / 1e3, 3)}k`;
  return significant(value, size >= 1000 ? 4 : 3);
}

/** @param {number} bytes */
export function bytes(bytes) {
  if (bytes >= 2 ** 30) return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  if (bytes < 2 ** 20) return `${Math.round(bytes / 2 ** 10)} KiB`;
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** "7 s", "3:41", "1:02:09". @param {number} seconds */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const hours = Math.floor(s / 3600);
  return hours > 0
    ? `${hours}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`
    : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

/** A value as its unit is written. @param {number} value @param {string} unit as docs/reference/metrics.md names it */
export function show(value, unit) {
  if (unit === "fraction") return `${significant(100 * value, 3)} %`;
  if (unit === "s")
    return Math.abs(value) >= 1 || value === 0
      ? `${significant(value, 3)} s`
      : `${significant(1000 * value, 3)} ms`;
  if (unit === "bytes") return bytes(value);
  if (unit === "ms") return `${short(value)} ms`;
  // for a ratio the distance from 1 matters
  if (unit === "–" && Math.abs(value - 1) < 0.1) return String(Number(value.toFixed(4)));
  return short(value);
}

/**
 * Labels of an axis: all with the decimals that its step needs.
 * @param {readonly number[]} ticks @param {string} unit
 */
export function axisLabels(ticks, unit) {
  if (unit === "bytes") return ticks.map(bytes);
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : 1;
  const factor = unit === "fraction" ? 100 : 1;
  const largest = Math.max(...ticks.map(Math.abs)) * factor;
  if (largest >= 10_000) return ticks.map((tick) => short(tick));
  if (largest > 0 && largest < 1e-3) return ticks.map((tick) => (tick === 0 ? "0" : tick.toExponential(1)));
  let digits = 0;
  while (digits < 6 && !isWhole(step * factor * 10 ** digits)) digits += 1;
  const suffix = unit === "fraction" ? " %" : unit === "s" ? " s" : "";
  return ticks.map((tick) => (tick * factor).toFixed(digits) + suffix);
}

/** @param {number} value */
const isWhole = (value) => Math.abs(value - Math.round(value)) < 1e-6;

/** "+0.012", "−3.4". @param {number} value @param {number} digits */
export const signed = (value, digits) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
