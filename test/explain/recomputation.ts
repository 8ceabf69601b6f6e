import { join } from "node:path";
import { expect } from "vitest";
import { overrideRecipe, type Recipe } from "../../lib/config/index.ts";
import { type Explanation, explainStep } from "../../lib/explain/index.ts";
import { Trainer } from "../../lib/native/index.ts";
import {
  decodeIds,
  decodeLogprobs,
  openModel,
  type RecordedGroup,
  type RecordedRollout,
} from "../../lib/orchestration/index.ts";
import { type Recording, readStep } from "./recording.ts";

// Recomputes everything that `hone explain` prints: rewards and advantages by the formulas of docs/reference/recipe.md,
// log-probs by a trainer of this test from the checkpoint before the step, and coefficients as central differences of
// the loss, which is written here a second time without derivatives.

interface Member {
  readonly group: RecordedGroup;
  readonly line: RecordedRollout;
  readonly behavior: Float32Array;
  /** The log-probs that this test's trainer computes from the checkpoint. */
  readonly now: Float32Array;
  readonly entropies: Float32Array;
}

/** Returns every rollout of the step with its log-probs under the weights before it. */
async function membersOf({ dir, recipe }: Recording, number: number): Promise<Member[]> {
  const { groups } = await readStep(dir, number);
  const model = await openModel(recipe);
  const trainer = new Trainer(model.config, {
    optimizer: { ...recipe.optimizer, kind: "adamw", decayAll: false, muonMomentum: 0 },
    packedTokens: 64,
    weightStorage: "f32",
  });
  await trainer.load(join(dir, "checkpoints", `step-00000${number - 1}`));
  const members: Member[] = [];
  for (const group of groups)
    for (const line of group.rollouts) {
      const prompt = decodeIds(group.prompt);
      const tokens = Int32Array.of(...prompt, ...decodeIds(line.tokens));
      const mask = new Uint8Array(tokens.length).fill(1, prompt.length);
      const cuSeqlens = Int32Array.of(0, tokens.length);
      const scored = await trainer.score({ tokens, mask, cuSeqlens }, recipe.rollouts.temperature);
      const behavior = decodeLogprobs(line.logprobs);
      const now = scored.logprobs.subarray(prompt.length);
      members.push({ group, line, behavior, now, entropies: scored.entropies.subarray(prompt.length) });
    }
  await trainer.close();
  return members;
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

interface Shaped {
  readonly penalty: number;
  readonly scale: number;
  readonly reward: number;
  readonly advantage: number;
  readonly mean: number;
  readonly deviation: number;
  /** True if the filter keeps the group. */
  readonly kept: boolean;
}

/** Computes the rewards and advantages of a group by the formulas of docs/reference/recipe.md. */
function shaped(group: RecordedGroup, { lengthPenalty, advantages, rollouts }: Recipe): Map<number, Shaped> {
  const { maxOutputTokens: L } = rollouts;
  const B = lengthPenalty.bufferTokens ?? 0;
  const scored = group.rollouts.filter(({ verdict }) => verdict.status !== "unscored");
  const scores = scored.map(({ verdict }) => (verdict as { score: number }).score);
  const s = scored.filter(({ verdict }) => verdict.status === "correct").length / scored.length;
  const parts = scored.map((line, i) => {
    const l = decodeIds(line.tokens).length;
    const cut = l >= L && line.finish === "length";
    const P = lengthPenalty.kind !== "none" && l > L - B && l <= L ? (L - B - l) / B : 0;
    const own =
      line.verdict.status === "correct" ? s ** lengthPenalty.solveRateExponent : lengthPenalty.incorrectScale;
    const lambda = lengthPenalty.kind === "none" ? 0 : lengthPenalty.kind === "lp" || cut ? 1 : own;
    return { attempt: line.attempt, P, lambda, reward: scores[i]! + lambda * P };
  });
  const rewards = parts.map(({ reward }) => reward);
  const n = rewards.length;
  const m = mean(rewards);
  const deviation = Math.sqrt(mean(rewards.map((r) => (r - m) ** 2)));
  const looked = advantages.filter === "score" ? scores : rewards;
  const kept = advantages.filter === "none" || Math.max(...looked) - Math.min(...looked) >= 1e-6;
  return new Map(
    parts.map(({ attempt, P, lambda, reward }) => {
      const others = (m * n - reward) / (n - 1);
      const { passAt } = advantages;
      const baseline = passAt
        ? reward - bestOf(parts, attempt, passAt)
        : advantages.baseline === "mean"
          ? m
          : others;
      const divisor =
        advantages.divideBy === "none"
          ? 1
          : (advantages.divideBy === "sample-std" ? deviation * Math.sqrt(n / (n - 1)) : deviation) + 1e-6;
      const flat = Math.max(...rewards) - Math.min(...rewards) < 1e-6;
      const advantage = flat ? 0 : (reward - baseline) / divisor;
      return [attempt, { penalty: P, scale: lambda, reward, advantage, mean: m, deviation, kept }];
    }),
  );
}

/** The mean best-of-k reward over all sets with the attempt, minus that over all sets without it. */
function bestOf(parts: readonly { attempt: number; reward: number }[], attempt: number, k: number): number {
  const sets = Array.from({ length: 2 ** parts.length }, (_, bits) =>
    parts.filter((__, i) => (bits >> i) & 1),
  );
  const best = (holds: boolean) =>
    mean(
      sets
        .filter((set) => set.length === k && set.some((one) => one.attempt === attempt) === holds)
        .map((set) => Math.max(...set.map(({ reward }) => reward))),
    );
  return best(true) - best(false);
}

interface Totals {
  readonly N: number;
  readonly groups: number;
  readonly tokens: number;
}

/**
 * One sequence's part of the loss at log-probs x, by the table in docs/reference/recipe.md. `held` are the log-probs
 * inside [·], which have no gradient; `size` is |g|.
 */
function sequenceLoss(
  recipe: Recipe,
  totals: Totals,
  {
    behavior,
    held,
    entropies,
    reference,
    factors,
    penalties,
  }: {
    behavior: number[];
    held: number[];
    entropies: number[];
    reference?: number[];
    factors: number[];
    penalties: number[];
  },
  given: readonly number[],
  size: number,
  x: readonly number[],
): number {
  const {
    kind,
    sequenceWeight,
    clipLow,
    clipHigh,
    dualClip,
    offPolicyMask,
    gate,
    klCoef,
    entropyCoef,
    correction,
  } = recipe.objective;
  const f = Math.fround;
  const [low, high] = [1 - f(clipLow), 1 + f(clipHigh)];
  const n = x.length;
  const isFar = mean(held.map((now, t) => behavior[t]! - now)) > f(offPolicyMask ?? Number.POSITIVE_INFINITY);
  const advantages = isFar ? given.map((A) => Math.max(0, A)) : given;
  const dual = f(dualClip ?? Number.POSITIVE_INFINITY);
  const minimum = (r: number, A: number) => Math.min(r * A, clamp(r, low, high) * A);
  const c = (r: number, A = advantages[0]!) => (A < 0 ? Math.max(minimum(r, A), dual * A) : minimum(r, A));
  const corrected = correction.kind !== "none";
  const byToken = corrected || factors.some((x) => x !== 1);
  const q = held.map((now, t) => Math.exp(now - behavior[t]!));
  const Q = Math.exp(held.reduce((sum, now, t) => sum + now - behavior[t]!, 0));
  const g = Q ** (1 / n);
  const inside = (r: number) => r >= f(correction.low) && r <= f(correction.high!);
  const w = q.map((own, t) => {
    if (correction.kind === "tis") return clamp(own, f(correction.low), f(correction.high!));
    if (correction.kind === "sequence-tis") return clamp(Q, f(correction.low), f(correction.high!));
    if (correction.kind === "icepop") return inside(own) ? own : 0;
    if (correction.kind === "sequence-mask") return inside(Q) ? Q : 0;
    if (correction.kind === "dppo-tv" || correction.kind === "dppo-kl") {
      const [mu, p, A] = [Math.exp(behavior[t]!), Math.exp(held[t]!), advantages[t]!];
      const kl = mu * Math.log(mu / p) + (1 - mu) * Math.log((1 - mu) / (1 - p));
      const bound = f(A > 0 ? correction.high! : correction.low || correction.high!);
      return (p - mu) * A > 0 && (correction.kind === "dppo-kl" ? kl : Math.abs(p - mu)) > bound ? 0 : own;
    }
    if (correction.kind === "geometric-mask") return inside(g) ? own : 0;
    return 1;
  });
  for (const t of w.keys()) w[t] = w[t]! * factors[t]!;
  const old = corrected ? held : behavior;
  const rho = x.map((now, t) => Math.exp(now - old[t]!));
  const rhoHeld = held.map((now, t) => Math.exp(now - old[t]!));
  const sum = (of: (t: number) => number) => x.reduce((all, _, t) => all + of(t), 0);
  const clipped = sum((t) => w[t]! * c(rho[t]!, advantages[t]!));
  const s = Math.exp(mean(x.map((now, t) => now - old[t]!)));
  // with a correction each token's ratio is the sequence's ratio with the other tokens held constant
  const sHeld = Math.exp(mean(held.map((now, t) => now - old[t]!)));
  const gspo = byToken ? sum((t) => w[t]! * c(sHeld * Math.exp(x[t]! - held[t]!))) / n : c(s);
  // for each token's advantage: the sequence's ratio with the other tokens held constant
  const ofTokens = sum((t) => w[t]! * c(sHeld * Math.exp(x[t]! - held[t]!), advantages[t]!)) / n;
  const A = advantages[0]!;
  const bounded = (r: number) =>
    A > 0 ? Math.min(r, Math.exp(f(clipHigh))) : Math.max(r, Math.exp(-f(clipLow)));
  const gHeld = rhoHeld.reduce((all, r) => all * bounded(r) ** (1 / n), 1);
  const moved = (t: number) => (bounded(rhoHeld[t]!) === rhoHeld[t] ? Math.exp(x[t]! - held[t]!) : 1);
  const gmpo = corrected
    ? (gHeld / n) * sum((t) => w[t]! * moved(t))
    : rho.reduce((all, r) => all * bounded(r) ** (1 / n), 1);
  const gated = (r: number, own: number) => {
    const tau = f(own > 0 ? (gate?.positive ?? 1) : (gate?.negative ?? 1.05));
    return ((4 / tau) * own) / (1 + Math.exp(tau * (1 - r)));
  };
  const policy = {
    "gspo-token": (-(sequenceWeight === "length" ? n : 1) * ofTokens) / totals.N,
    gmpo: (-(sequenceWeight === "length" ? n : 1) * A * gmpo) / totals.N,
    sapo:
      -sum((t) => w[t]! * gated(rho[t]!, advantages[t]!)) /
      (totals.N * (sequenceWeight === "length" ? 1 : n)),
    gspo: (-(sequenceWeight === "length" ? n : 1) * gspo) / totals.N,
    grpo: -clipped / (totals.groups * size * n),
    dapo: -clipped / totals.tokens,
    "dr-grpo": -clipped / (totals.N * recipe.rollouts.maxOutputTokens),
    "ppo-clip": -clipped / totals.N,
    cispo: -sum((t) => w[t]! * clamp(rhoHeld[t]!, low, high) * advantages[t]! * x[t]!) / totals.tokens,
    "reinforce-clamped": -sum((t) => w[t]! * clamp(rhoHeld[t]!, 0, high) * advantages[t]! * x[t]!) / totals.N,
    reinforce: -sum((t) => w[t]! * advantages[t]! * x[t]!) / totals.N,
  }[kind as string]!;
  const regularizer = 1 / (totals.N * (sequenceWeight === "length" ? 1 : n));
  const estimate = (d: number, ratio: number) => {
    const k3 = Math.exp(d) - d - 1;
    return { k1: -d, k2: (d * d) / 2, k3, unbiased: ratio * k3, full: Number.NaN }[
      recipe.objective.klEstimator
    ];
  };
  const k =
    reference === undefined ? 0 : sum((t) => estimate(reference[t]! - x[t]!, Math.exp(x[t]! - behavior[t]!)));
  const penalty = sum((t) => penalties[t]! * Math.abs(x[t]! - old[t]!));
  return (
    policy +
    penalty * scaleOfTokens(recipe, totals, n) +
    f(klCoef) * regularizer * k -
    f(entropyCoef) * regularizer * sum((t) => entropies[t]!)
  );
}

const tokenArray = (words: string | undefined, t: number) =>
  words === undefined ? undefined : decodeLogprobs(words)[t];

/** The factor of a token's term for dapo and gspo, the only kinds that the tests combine with penalties. */
const scaleOfTokens = ({ objective: { kind } }: Recipe, totals: Totals, n: number) =>
  kind === "dapo" ? 1 / totals.tokens : 1 / (totals.N * n);

/** At every token the rollout's own advantage, or with a teacher the formula of docs/reference/recipe.md. */
function tokenAdvantages({ group, line, behavior }: Member, own: number, { teacher }: Recipe): number[] {
  if (teacher === undefined) return Array.from(behavior, () => Math.fround(own));
  const gapsOf = ({ logprobs, teacher: scored }: RecordedRollout) =>
    Array.from(decodeLogprobs(scored!), (x, t) => x - decodeLogprobs(logprobs)[t]!);
  const baseline = mean(group.rollouts.flatMap(gapsOf));
  return gapsOf(line).map((gap) =>
    Math.fround(teacher.rewardCoef * Math.fround(own) + teacher.coef * (gap - baseline)),
  );
}

/** Counts the cases that the computation met, so that a test can check that its cases occurred. */
interface Seen {
  trained: number;
  clipped: number;
  changed: number;
}

function compareAttempt(
  { settings, attempt }: Pick<Explanation, "settings" | "attempt">,
  which: number,
  member: Member,
  recipe: Recipe,
  totals: Totals,
  seen: Seen,
): number {
  const told = settings[which]!;
  const group = shaped(member.group, recipe);
  const own = group.get(attempt)!;
  const near = (value: number | undefined, expected: number, name: string, digits = 1e-9) =>
    expect(Math.abs(value! - expected), `${name}: ${value}, here ${expected}`).toBeLessThanOrEqual(
      digits * Math.max(1e-3, Math.abs(expected)),
    );
  near(told.reward!.penalty.penalty, own.penalty, "P");
  near(told.reward!.penalty.scale, own.scale, "lambda");
  near(told.reward!.reward, own.reward, "reward");
  near(told.reward!.advantage, own.advantage, "A");
  near(told.group.mean, own.mean, "mean");
  near(told.group.deviation, own.deviation, "deviation");
  const divisor = told.reward!.divisor;
  if (divisor !== undefined)
    near((own.reward - told.reward!.baseline) / divisor, own.advantage, "A of its parts");
  expect(told.tokens.map(({ now }) => now)).toEqual(Array.from(member.now));
  expect(told.tokens.map(({ behavior }) => behavior)).toEqual(Array.from(member.behavior));
  const isTrained = own.kept && !(recipe.advantages.overlong === "mask" && member.line.finish === "length");
  expect(told.sequence !== undefined).toBe(isTrained);
  if (!isTrained) {
    expect(told.tokens.every(({ coefficient }) => coefficient === 0)).toBe(true);
    return 0;
  }
  const numbers = {
    behavior: Array.from(member.behavior),
    held: Array.from(member.now),
    entropies: Array.from(member.entropies),
    factors: Array.from(member.behavior, (_, t) => tokenArray(member.line.tokenWeights, t) ?? 1),
    penalties: Array.from(member.behavior, (_, t) => tokenArray(member.line.tokenPenalties, t) ?? 0),
    ...(member.line.reference && { reference: Array.from(decodeLogprobs(member.line.reference)) }),
  };
  const loss = (x: readonly number[]) => sequenceLoss(recipe, totals, numbers, advantages, group.size, x);
  const advantages = tokenAdvantages(member, own.advantage, recipe);
  const h = 1e-5;
  for (const [t, token] of told.tokens.entries()) {
    const moved = (by: number) => numbers.held.map((x, i) => (i === t ? x + by : x));
    const slope = (loss(moved(h)) - loss(moved(-h))) / (2 * h);
    expect(
      Math.abs(token.coefficient - slope),
      `token ${t}: ${token.coefficient}, here ${slope}`,
    ).toBeLessThan(1e-6 * Math.abs(slope) + 1e-9 / totals.N);
    if (recipe.teacher !== undefined) near(token.advantage, advantages[t]!, "advantage of the token", 1e-6);
    else expect(token.advantage).toBeUndefined();
    near(token.tokenRatio, Math.exp(token.now - token.behavior), "ratio of the token", 1e-12);
    if ((token.clipped ?? token.bounded) !== undefined) seen.clipped += 1;
    if (Math.abs(token.tokenRatio - 1) > 1e-4) seen.changed += 1;
  }
  near(told.sequence!.ratio, Math.exp(mean(numbers.held.map((x, t) => x - numbers.behavior[t]!))), "s");
  near(told.sequence!.loss, loss(numbers.held), "loss");
  seen.trained += 1;
  return loss(numbers.held);
}

/** The step's N, groups and tokens under these settings. */
function totalsOf(groups: readonly RecordedGroup[], recipe: Recipe): Totals {
  const kept = groups.filter((group) => [...shaped(group, recipe).values()][0]?.kept);
  const masks = recipe.advantages.overlong === "mask";
  const scored = kept.flatMap((g) => g.rollouts.filter(({ verdict }) => verdict.status !== "unscored"));
  const laid = scored.filter(({ finish }) => !(masks && finish === "length"));
  const tokens = laid.reduce((n, line) => n + decodeIds(line.tokens).length, 0);
  return { N: scored.length, groups: kept.length, tokens };
}

/** Compares every attempt of a step, with the recipe's settings and with those of `set`. */
export async function compareStep(
  recording: Recording,
  number: number,
  set: readonly string[] = [],
): Promise<Seen> {
  const { groups, step } = await readStep(recording.dir, number);
  const seen: Seen = { trained: 0, clipped: 0, changed: 0 };
  const recipes = [recording.recipe, ...(set.length > 0 ? [overrideRecipe(recording.recipe, set)] : [])];
  const sums = recipes.map(() => 0);
  let last: Explanation | undefined;
  for (const member of await membersOf(recording, number)) {
    const { problem } = member.group;
    last = await explainStep(recording.dir, { step: number, problem, attempt: member.line.attempt, set });
    for (const [i, recipe] of recipes.entries())
      sums[i]! += compareAttempt(last, i, member, recipe, totalsOf(groups, recipe), seen);
  }
  expect(last!.settings[0]!.step!.loss).toBe(step.trained!.loss);
  expect(last!.settings[0]!.step!.gradNorm).toBe(step.trained!.gradNorm);
  for (const [i, { step: of }] of last!.settings.entries())
    expect(Math.abs(sums[i]! - of!.loss)).toBeLessThan(1e-8 * (1 + Math.abs(of!.loss)));
  return seen;
}
