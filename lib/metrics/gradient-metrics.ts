import type { MetricSheet } from "./distribution.ts";
import type { GradientFacts } from "./facts.ts";

/**
 * Squared norm |G|^2 of the gradient (`signal`), and trace of the covariance of one group's gradient
 * (`noise`): smoothed, or of one step.
 */
export interface NoiseSums {
  readonly signal: number;
  readonly noise: number;
}

/** Key of the smoothed sums of all domains together: no domain has this name. */
const ALL = "";
/** Weight of the older measurements in the smoothed sums. */
const KEPT = 0.9;

/**
 * How domains contribute to the gradient g of the step; g_d is the gradient of domain d.
 * share_d = <g_d, g> / |g|^2 (they add up to 1), cosine_de = <g_d, g_e> / (|g_d| |g_e|)
 * Returns the smoothed sums of the noise scales after this measurement.
 * Source of the noise scale: McCandlish et al., "An Empirical Model of Large-Batch Training" (2018), appendix A.1.
 */
export function putGradientMetrics(
  sheet: MetricSheet,
  facts: GradientFacts,
  before: Readonly<Record<string, NoiseSums>>,
): Readonly<Record<string, NoiseSums>> {
  const { names, inner } = domainsOf(facts);
  const along = inner.map((row) => row.reduce((sum, product) => sum + product, 0));
  const whole = along.reduce((sum, product) => sum + product, 0);
  const norms = inner.map((row, i) => Math.sqrt(row[i]!));
  names.forEach((name, i) => {
    sheet.put(`gradient/norm/${name}`, norms[i]);
    sheet.share(`gradient/share/${name}`, along[i]!, whole);
    for (let j = i + 1; j < names.length; j++)
      sheet.share(`gradient/cosine/${name}/${names[j]}`, inner[i]![j]!, norms[i]! * norms[j]!);
  });
  return putNoise(sheet, halvesOf(facts), before);
}

/** Inner products [D, D] of the domains' gradients, each the sum of its parts. */
function domainsOf({ parts, products }: GradientFacts) {
  const names = [...new Set(parts.map(({ domain }) => domain))];
  const inner = names.map(() => names.map(() => 0));
  parts.forEach(({ domain }, p) => {
    const row = inner[names.indexOf(domain)]!;
    parts.forEach((other, q) => {
      row[names.indexOf(other.domain)]! += products[p * parts.length + q]!;
    });
  });
  return { names, inner };
}

/** Two halves A and B of a domain's groups, with the inner products of any two parts. */
interface Halves {
  readonly domain: string;
  readonly groups: readonly [number, number];
  readonly at: readonly [number, number];
}

interface Halved {
  readonly halves: readonly Halves[];
  readonly inner: (p: number, q: number) => number;
}

/** Halves of the domains with a group in each half: a single group has no variance. */
function halvesOf({ parts, products }: GradientFacts): Halved {
  const halves = parts.flatMap(({ domain, groups }, p): Halves[] => {
    const other = parts[p + 1];
    if (other?.domain !== domain || groups === 0 || other.groups === 0) return [];
    return [{ domain, groups: [groups, other.groups], at: [p, p + 1] }];
  });
  return { halves, inner: (p, q) => products[p * parts.length + q]! };
}

/**
 * With n_A and n_B groups in the halves a_d and b_d of domain d, n = n_A + n_B, and g_d their sum: E <a_d n / n_A,
 * b_e n / n_B> = <G_d, G_e>, also for d = e, since no group is in both halves; the sum is the signal. E n_A n_B |a_d
 * / n_A - b_d / n_B|^2 = tr Cov(g_d); domains are independent, so their sum times the number of groups is the noise.
 * With equal halves A and B: 4 <A, B>, and N |A - B|^2 without products across domains, whose mean is 0.
 */
function sumsOf({ inner }: Halved, halves: readonly Halves[]): NoiseSums {
  let signal = 0;
  let spread = 0;
  let groups = 0;
  for (const {
    groups: [n, m],
    at: [a, b],
  } of halves) {
    groups += n + m;
    spread += (inner(a, a) * m) / n + (inner(b, b) * n) / m - 2 * inner(a, b);
    for (const {
      groups: [u, v],
      at: [, c],
    } of halves)
      signal += ((n + m) / n) * ((u + v) / v) * inner(a, c);
  }
  return { signal, noise: groups * spread };
}

function putNoise(
  sheet: MetricSheet,
  halved: Halved,
  before: Readonly<Record<string, NoiseSums>>,
): Readonly<Record<string, NoiseSums>> {
  if (halved.halves.length === 0) return before;
  const after: Record<string, NoiseSums> = { ...before };
  const put = (name: string, halves: readonly Halves[]) => {
    const now = sumsOf(halved, halves);
    if (!Number.isFinite(now.signal) || !Number.isFinite(now.noise)) return;
    const then = before[name] ?? now;
    const signal = KEPT * then.signal + (1 - KEPT) * now.signal;
    const noise = KEPT * then.noise + (1 - KEPT) * now.noise;
    after[name] = { signal, noise };
    const suffix = name === ALL ? "" : `/${name}`;
    sheet.put(`gradient/signal${suffix}`, signal);
    sheet.put(`gradient/noise${suffix}`, noise);
    sheet.share(`gradient/noise-scale${suffix}`, noise, signal);
  };
  put(ALL, halved.halves);
  for (const half of halved.halves) put(half.domain, [half]);
  return after;
}
