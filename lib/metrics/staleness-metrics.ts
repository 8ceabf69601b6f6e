import { type MetricSheet, Moments } from "./distribution.ts";
import type { StepFacts } from "./facts.ts";

const OLDEST_LAG = 8;

/**
 * Ages, in optimizer steps, of the trained data: of a rollout by its oldest token, of each token by the weights that
 * sampled it, and of attended keys by the weights that computed them.
 */
export function putStalenessMetrics(sheet: MetricSheet, facts: StepFacts): void {
  for (const [stage, length] of Object.entries(facts.queues)) sheet.put(`queue/${stage}`, length);
  if (facts.credits !== undefined) {
    sheet.put("credits/free", facts.credits.free);
    sheet.share("credits/used", facts.credits.total - facts.credits.free, facts.credits.total);
  }
  if (facts.update === undefined || facts.update.rollouts.length === 0) return;
  const trainer = facts.update.version;
  const lags: number[] = [];
  const tokenAge = new Moments();
  const kvAge = new Moments();
  const versionsPer = new Moments();
  let mixed = 0;
  for (const { rollout } of facts.update.rollouts) {
    const { versions, oldestKvVersions, episode } = rollout;
    if (versions.length === 0) continue;
    const oldest = versions[0]!;
    let newest = oldest;
    let distinct = 1;
    for (let t = 0; t < versions.length; ++t) {
      const version = versions[t]!;
      if (episode?.given[t] === 1) continue;
      tokenAge.add(trainer - version);
      if (oldestKvVersions[t]! < version) kvAge.add(version - oldestKvVersions[t]!);
      // Versions only rise along a rollout, so a change is a new one.
      if (version !== newest) distinct += 1;
      newest = version;
    }
    lags.push(trainer - oldest);
    versionsPer.add(distinct);
    if (distinct > 1) mixed += 1;
  }
  putLags(sheet, lags);
  sheet.put("age/mean", tokenAge.mean);
  sheet.put("age/max", tokenAge.max);
  sheet.put("versions/mean", versionsPer.mean);
  sheet.put("versions/max", versionsPer.max);
  sheet.share("versions/mixed", mixed, versionsPer.n);
  sheet.share("kv/stale", kvAge.n, tokenAge.n);
  sheet.put("kv/stale-age", kvAge.mean);
  sheet.put("kv/stale-age-max", kvAge.max);
  putReplayed(sheet, facts);
}

/** Metrics of the groups replayed from the buffer. */
function putReplayed(sheet: MetricSheet, { groups, update }: StepFacts): void {
  const ages = update?.replayedAges;
  if (ages === undefined) return;
  const fresh = groups.filter(({ dropped }) => dropped === undefined).length;
  sheet.put("replayed/groups", ages.length);
  sheet.share("replayed/share", ages.length, fresh + ages.length);
  if (ages.length === 0) return;
  sheet.put("replayed/age", ages.reduce((sum, age) => sum + age, 0) / ages.length);
  sheet.put("replayed/age-max", Math.max(...ages));
}

function putLags(sheet: MetricSheet, lags: readonly number[]): void {
  if (lags.length === 0) return;
  sheet.put("lag/min", Math.min(...lags));
  sheet.put("lag/mean", lags.reduce((a, b) => a + b, 0) / lags.length);
  sheet.put("lag/max", Math.max(...lags));
  sheet.quantiles("lag", Float64Array.from(lags), [0.95]);
  const histogram = new Map<number, number>();
  for (const lag of lags) {
    const bin = Math.min(lag, OLDEST_LAG);
    histogram.set(bin, (histogram.get(bin) ?? 0) + 1);
  }
  for (const [lag, n] of histogram) {
    sheet.put(`lag/share/${lag === OLDEST_LAG ? `${lag}+` : lag}`, n / lags.length);
  }
}
