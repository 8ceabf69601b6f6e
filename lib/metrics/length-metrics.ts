import { type ScoredRollout, sampledTokens } from "../records.ts";
import { type MetricSheet, Moments, MomentsBy } from "./distribution.ts";
import type { StepFacts } from "./facts.ts";

/** Lengths and sampling entropies of every rollout that finished in this step, trained or not. */
export function putLengthMetrics(sheet: MetricSheet, facts: StepFacts): void {
  const all = facts.groups.flatMap((group) => group.rollouts);
  putLengths(sheet, all, facts.maxOutputTokens);
  putTruncation(sheet, all);
  putEntropies(sheet, all);
  const fates = new MomentsBy<string>();
  for (const group of facts.groups) {
    const fate = group.dropped === undefined ? "kept" : "dropped";
    for (const { rollout } of group.rollouts) fates.add(fate, sampledTokens(rollout));
  }
  for (const [fate, m] of fates.entries()) sheet.put(`length/${fate}`, m.mean);
}

function putLengths(sheet: MetricSheet, rollouts: readonly ScoredRollout[], budget: number): void {
  if (rollouts.length === 0) return;
  const prompts = new Moments();
  const means = new MomentsBy<string>();
  for (const { rollout, verdict } of rollouts) {
    const length = sampledTokens(rollout);
    prompts.add(rollout.promptTokens.length);
    means.add("length/mean", length);
    means.add(`length/mean/${rollout.problem.domain}`, length);
    means.add(`length/level/${rollout.problem.level}`, length);
    means.add(`length/verdict/${verdict.status}`, length);
    if (rollout.finish !== "length") means.add("length/terminated", length);
  }
  for (const [name, m] of means.entries()) sheet.put(name, m.mean);
  const lengths = Float64Array.from(rollouts, (r) => sampledTokens(r.rollout));
  const total = lengths.reduce((a, b) => a + b, 0);
  sheet.put("length/max", Math.max(...lengths));
  sheet.share("length/budget", total / lengths.length, budget);
  const textless = rollouts.reduce((n, { rollout }) => n + (rollout.textlessTokens ?? 0), 0);
  sheet.share("length/textless", textless, total);
  sheet.quantiles("length", lengths, [0.5, 0.95]);
  sheet.put("prompt-length/mean", prompts.mean);
  sheet.put("prompt-length/max", prompts.max);
}

function putTruncation(sheet: MetricSheet, rollouts: readonly ScoredRollout[]): void {
  const cut = new MomentsBy<string>();
  for (const { rollout } of rollouts) {
    const value = rollout.finish === "length" ? 1 : 0;
    cut.add("truncated", value);
    cut.add(`truncated/${rollout.problem.domain}`, value);
  }
  for (const [name, m] of cut.entries()) sheet.put(name, m.mean);
}

function putEntropies(sheet: MetricSheet, rollouts: readonly ScoredRollout[]): void {
  const every = new Float64Array(rollouts.reduce((n, r) => n + sampledTokens(r.rollout), 0));
  const domains = new Map<string, { sum: number; n: number }>();
  let total = 0;
  let edges = 0;
  let first = 0;
  let last = 0;
  let filled = 0;
  for (const { rollout } of rollouts) {
    const entropies = sampledEntropies(rollout);
    let sum = 0;
    for (let t = 0; t < entropies.length; ++t) {
      sum += entropies[t]!;
      every[filled++] = entropies[t]!;
    }
    const edge = Math.ceil(entropies.length / 10);
    total += sum;
    edges += edge;
    first += sumOf(entropies, 0, edge);
    last += sumOf(entropies, entropies.length - edge, entropies.length);
    const domain = domains.get(rollout.problem.domain) ?? { sum: 0, n: 0 };
    domain.sum += sum;
    domain.n += entropies.length;
    domains.set(rollout.problem.domain, domain);
  }
  sheet.share("entropy/mean", total, filled);
  sheet.share("entropy/first-tenth", first, edges);
  sheet.share("entropy/last-tenth", last, edges);
  sheet.quantiles("entropy", every, [0.1, 0.5, 0.9]);
  for (const [domain, { sum, n }] of domains) sheet.share(`entropy/mean/${domain}`, sum, n);
}

function sampledEntropies({ entropies, episode }: ScoredRollout["rollout"]): Float32Array {
  return episode === undefined ? entropies : entropies.filter((_, t) => episode.given[t] === 0);
}

function sumOf(values: Float32Array, from: number, to: number): number {
  let sum = 0;
  for (let t = from; t < to; ++t) sum += values[t]!;
  return sum;
}
