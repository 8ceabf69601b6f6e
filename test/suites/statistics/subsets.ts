/** All subsets of `k` items, for what is counted by formulas elsewhere. */
export function subsets<T>(items: readonly T[], k: number): T[][] {
  if (k === 0) return [[]];
  if (items.length < k) return [];
  const [first, ...rest] = items as [T, ...T[]];
  return [...subsets(rest, k - 1).map((subset) => [first, ...subset]), ...subsets(rest, k)];
}
