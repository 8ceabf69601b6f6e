/**
 * Least-squares line y = a + b x with a, b >= 0: if the unconstrained fit has a negative coefficient, the best fit
 * with that one at 0. Trusts that there is a point.
 */
export function line(points: readonly (readonly [x: number, y: number])[]): { a: number; b: number } {
  const n = points.length;
  const sum = (of: (point: readonly [number, number]) => number) =>
    points.reduce((total, point) => total + of(point), 0);
  const [x, y] = [sum(([x]) => x) / n, sum(([, y]) => y) / n];
  const spread = sum((point) => (point[0] - x) ** 2);
  const b = spread === 0 ? 0 : sum((point) => (point[0] - x) * (point[1] - y)) / spread;
  const a = y - b * x;
  if (b < 0) return { a: Math.max(0, y), b: 0 };
  if (a >= 0) return { a, b };
  const squares = sum((point) => point[0] ** 2);
  return { a: 0, b: squares === 0 ? 0 : Math.max(0, sum(([x, y]) => x * y) / squares) };
}

/** Least-squares rates p, q >= 0 of y = p x1 + q x2. Undefined if the points do not determine them. */
export function rates(
  points: readonly (readonly [x1: number, x2: number, y: number])[],
): { readonly p: number; readonly q: number } | undefined {
  let [s11, s12, s22, s1y, s2y] = [0, 0, 0, 0, 0];
  for (const [x1, x2, y] of points) {
    s11 += x1 * x1;
    s12 += x1 * x2;
    s22 += x2 * x2;
    s1y += x1 * y;
    s2y += x2 * y;
  }
  const determinant = s11 * s22 - s12 * s12;
  if (determinant <= 1e-9 * s11 * s22) return undefined;
  const p = (s1y * s22 - s2y * s12) / determinant;
  const q = (s2y * s11 - s1y * s12) / determinant;
  return p > 0 && q > 0 ? { p, q } : undefined;
}
