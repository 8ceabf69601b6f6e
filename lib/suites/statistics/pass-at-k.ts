/**
 * Probability that k of n completions, drawn without replacement, include a right one: 1 - C(n - c, k) / C(n,
 * k), as a product, so that nothing overflows. Trusts 0 <= c <= n and 1 <= k <= n.
 * Source: Chen et al. 2021, Evaluating Large Language Models Trained on Code, eq. 1.
 */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let allWrong = 1;
  for (let i = n - c + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}
