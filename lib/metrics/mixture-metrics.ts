import type { MetricSheet } from "./distribution.ts";
import type { MixtureFacts, StageCounts } from "./facts.ts";

/** Stages and their counts. "in-flight" is a current value, not a sum: it has no window. */
const STAGES = [
  ["submitted", "submitted"],
  ["in-flight", "inFlight"],
  ["completed", "completed"],
  ["retained", "retained"],
  ["trained", "trained"],
  ["trained-tokens", "trainedTokens"],
  ["replayed", "replayed"],
] as const;

type Counts = Readonly<Record<string, StageCounts>>;

/**
 * Shares of the domains at each stage against the target, since the run began and in the last step alone.
 *   MAD = mean over domains |share - target|, max error = max over domains |share - target|
 */
export function putMixtureMetrics(sheet: MetricSheet, mixture: MixtureFacts, previous: Counts): void {
  const domains = Object.keys(mixture.targets);
  for (const domain of domains) {
    sheet.put(`mixture/target/${domain}`, mixture.targets[domain]);
    sheet.put(`sampler/probability/${domain}`, mixture.probabilities[domain]);
    sheet.put(`sampler/adjustment/${domain}`, mixture.adjustments[domain]);
  }
  for (const [name, field] of STAGES) {
    const since = (counts: Counts, domain: string) => counts[domain]?.[field] ?? 0;
    const now = domains.map((d) => since(mixture.counts, d));
    putShares(sheet, mixture, domains, now, name, "");
    if (field === "inFlight") continue; // the number of rollouts in flight at this moment: a step has no share of it
    putShares(
      sheet,
      mixture,
      domains,
      now.map((n, k) => n - since(previous, domains[k]!)),
      name,
      "/window",
    );
  }
  putDrops(sheet, mixture.counts, previous);
}

function putShares(
  sheet: MetricSheet,
  mixture: MixtureFacts,
  domains: readonly string[],
  counts: readonly number[],
  stage: string,
  window: string,
): void {
  const total = counts.reduce((a, b) => a + b, 0);
  if (total <= 0) return;
  let sum = 0;
  let worst = 0;
  domains.forEach((domain, k) => {
    const share = counts[k]! / total;
    const error = Math.abs(share - mixture.targets[domain]!);
    sum += error;
    worst = Math.max(worst, error);
    sheet.put(`mixture/${stage}${window}/${domain}`, share);
  });
  sheet.put(`mixture/${stage}${window}/mad`, sum / domains.length);
  sheet.put(`mixture/${stage}${window}/max-error`, worst);
}

function putDrops(sheet: MetricSheet, counts: Counts, previous: Counts): void {
  for (const [domain, stage] of Object.entries(counts)) {
    for (const [reason, total] of Object.entries(stage.dropped)) {
      const before = previous[domain]?.dropped[reason as keyof StageCounts["dropped"]] ?? 0;
      sheet.put(`dropped/${reason}/${domain}`, total - before);
      sheet.put(`dropped/total/${reason}/${domain}`, total);
    }
  }
}
