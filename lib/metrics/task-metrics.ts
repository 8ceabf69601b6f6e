import type { RolloutGroup, ScoredRollout } from "../records.ts";
import { type MetricSheet, Moments, MomentsBy } from "./distribution.ts";
import type { StepFacts } from "./facts.ts";

/** Smallest spread of rewards or advantages in a group that counts as a difference; advantages are f32. */
const NO_SPREAD = 1e-6;
const OLDEST_LAG_BUCKET = 4;

/** Scores, rewards, verdicts, penalty and groups: what the policy achieved on every group that finished in this step. */
export function putTaskMetrics(sheet: MetricSheet, facts: StepFacts): void {
  const rollouts = facts.groups.flatMap((group) => group.rollouts);
  putRewards(sheet, rollouts, facts);
  putVerdicts(sheet, rollouts, facts.unscored);
  putParts(sheet, rollouts);
  putPenalty(sheet, rollouts);
  putMasked(sheet, rollouts);
  putGroups(sheet, facts.groups);
  for (const [domain, n] of Object.entries(facts.leftOut ?? {})) sheet.put(`problems/left-out/${domain}`, n);
  for (const [domain, { seen, open, solveRate }] of Object.entries(facts.curricula ?? {})) {
    sheet.put(`curriculum/seen/${domain}`, seen);
    sheet.put(`curriculum/open/${domain}`, open);
    if (solveRate !== undefined) sheet.put(`curriculum/solve-rate/${domain}`, solveRate);
  }
}

function putRewards(sheet: MetricSheet, rollouts: readonly ScoredRollout[], facts: StepFacts): void {
  const shaped = new Moments();
  const score = new Moments();
  const shapedBy = new MomentsBy<string>();
  const scoreBy = new MomentsBy<string>();
  const successBy = new MomentsBy<string>();
  const scoreByLag = new MomentsBy<number>();
  for (const { rollout, verdict, reward } of rollouts) {
    const { domain, level } = rollout.problem;
    const solved = verdict.status === "correct" ? 1 : 0;
    shaped.add(reward);
    score.add(verdict.score);
    shapedBy.add(domain, reward);
    scoreBy.add(domain, verdict.score);
    successBy.add(domain, solved);
    successBy.add(`level-${level}`, solved);
    successBy.add("", solved);
    const sampledBy = rollout.versions[0];
    if (facts.update !== undefined && sampledBy !== undefined) {
      scoreByLag.add(Math.min(OLDEST_LAG_BUCKET, facts.update.version - sampledBy), verdict.score);
    }
  }
  sheet.put("reward/mean", shaped.mean);
  sheet.put("reward/std", shaped.std);
  sheet.quantiles(
    "reward",
    Float64Array.from(rollouts, (r) => r.reward),
    [0.1, 0.5, 0.9],
  );
  sheet.put("score/mean", score.mean);
  for (const [domain, m] of shapedBy.entries()) sheet.put(`reward/mean/${domain}`, m.mean);
  for (const [domain, m] of scoreBy.entries()) sheet.put(`score/mean/${domain}`, m.mean);
  for (const [key, m] of successBy.entries()) sheet.put(key === "" ? "success" : `success/${key}`, m.mean);
  for (const [lag, m] of scoreByLag.entries()) {
    sheet.put(`score/lag-${lag === OLDEST_LAG_BUCKET ? `${lag}+` : lag}`, m.mean);
  }
}

/** Computes the mean of each of a domain's several rewards. */
function putParts(sheet: MetricSheet, rollouts: readonly ScoredRollout[]): void {
  const parts = new MomentsBy<string>();
  for (const { rollout, verdict } of rollouts)
    for (const [name, score] of Object.entries(verdict.parts ?? {}))
      parts.add(`${rollout.problem.domain}/${name}`, score);
  for (const [name, moments] of parts.entries()) sheet.put(`reward/part/${name}`, moments.mean);
}

function putVerdicts(
  sheet: MetricSheet,
  rollouts: readonly ScoredRollout[],
  unscored: Readonly<Record<string, number>> | undefined,
): void {
  const counts = new Map<string, number>();
  const partial = new Moments();
  for (const { verdict } of rollouts) {
    counts.set(verdict.status, (counts.get(verdict.status) ?? 0) + 1);
    if (verdict.status === "partial") partial.add(verdict.score);
  }
  const lost = Object.values(unscored ?? {}).reduce((a, b) => a + b, 0);
  const total = rollouts.length + lost;
  if (total === 0) return;
  for (const status of ["correct", "partial", "wrong", "no_answer", "unparsable"]) {
    sheet.put(`verdict/${status}`, (counts.get(status) ?? 0) / total);
  }
  if (unscored !== undefined) sheet.put("verdict/unscored", lost / total);
  sheet.put("verdict/partial-score", partial.mean);
}

function putPenalty(sheet: MetricSheet, rollouts: readonly ScoredRollout[]): void {
  if (!rollouts.some((r) => r.penaltyScale !== 0)) return;
  const shaping = new Moments();
  let penalised = 0;
  let softened = 0;
  for (const { penaltyScale, penalty } of rollouts) {
    shaping.add(penaltyScale * penalty);
    if (penalty === 0) continue;
    penalised += 1;
    if (penaltyScale < 1) softened += 1;
  }
  sheet.put("penalty/mean", shaping.mean);
  sheet.put("penalty/active", penalised / rollouts.length);
  sheet.share("penalty/softened", softened, penalised);
}

/** Only under a recipe that masks: otherwise rollouts do not record whether they are masked. */
function putMasked(sheet: MetricSheet, rollouts: readonly ScoredRollout[]): void {
  if (!rollouts.some(({ masked }) => masked !== undefined)) return;
  sheet.share("overlong/masked", rollouts.filter(({ masked }) => masked === true).length, rollouts.length);
}

/**
 * The six bins of the solve-rate histogram; 0 and 1 have their own, because such groups have no learning signal
 * except length.
 */
function solveRateBin(s: number): string {
  if (s <= 0) return "0";
  if (s >= 1) return "100";
  const low = Math.floor(s * 4) * 25;
  return `${low}-${low + 25}`;
}

function putGroups(sheet: MetricSheet, groups: readonly RolloutGroup[]): void {
  const scored = groups.filter((g) => g.rollouts.length > 0);
  if (scored.length === 0) return;
  const tally = new Map<string, number>();
  const count = (name: string, yes: boolean) => tally.set(name, (tally.get(name) ?? 0) + (yes ? 1 : 0));
  const spread = new Moments();
  const unique = new Moments();
  for (const bin of ["0", "0-25", "25-50", "50-75", "75-100", "100"]) count(`solve-rate/${bin}`, false);
  for (const group of scored) {
    const score = new Moments();
    const reward = new Moments();
    for (const r of group.rollouts) {
      score.add(r.verdict.score);
      reward.add(r.reward);
    }
    spread.add(score.std);
    unique.add(new Set(group.rollouts.map((r) => r.rollout.text)).size / group.rollouts.length);
    count(`solve-rate/${solveRateBin(group.solveRate)}`, true);
    count("groups/kept", group.dropped === undefined);
    count("groups/solved-all", group.solveRate >= 1);
    count("groups/solved-some", group.solveRate > 0 && group.solveRate < 1);
    count("groups/solved-none", group.solveRate <= 0);
    count("groups/zero-score-std", score.std < NO_SPREAD);
    count("groups/zero-reward-std", reward.std < NO_SPREAD);
    count("groups/length-only", score.std < NO_SPREAD && reward.std >= NO_SPREAD);
    count(
      "groups/best-solved",
      group.rollouts.some((r) => r.verdict.status === "correct"),
    );
  }
  for (const [name, n] of tally) sheet.put(name, n / scored.length);
  sheet.put("groups/count", scored.length);
  sheet.put("groups/score-std", spread.mean);
  sheet.put("groups/unique-answers", unique.mean);
}
