/** Window of the moving mean: odd, about a twentieth of the run; 1 (no smoothing) below a dozen steps. */
export function smoothingWindow(steps: number): number {
  return steps < 12 ? 1 : Math.max(3, 2 * Math.floor(steps / 40) + 1);
}

/** Centred mean over `window` entries, fewer at the ends. Null entries do not count; the mean of null entries alone is null. */
export function movingMean(values: readonly (number | null)[], window: number): (number | null)[] {
  const reach = Math.floor(window / 2);
  return values.map((_, i) => {
    const near = values.slice(Math.max(0, i - reach), i + reach + 1).filter((v) => v !== null);
    return near.length === 0 ? null : near.reduce((a, b) => a + b, 0) / near.length;
  });
}
