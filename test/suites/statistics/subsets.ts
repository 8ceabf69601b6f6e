/** Lists all subsets of `k` items, to check the formulas in lib/. */
export function subsets<T>(items: readonly T[], k: number): T[][] {
  if (k === 0) return [[]];
  if (items.length < k) return [];
  const [first, ...rest] = items as [T, ...T[]];
  return [...subsets(rest, k - 1).map((subset) => [first, ...subset]), ...subsets(rest, k)];
}
