import { sampledTokens } from "../records.ts";
import { type MetricSheet, Moments, MomentsBy } from "./distribution.ts";
import type { StepFacts, UpdateFacts } from "./facts.ts";

/** A gap in log-prob beyond this between engine and trainer is counted separately. */
const LARGE_MISMATCH = 0.1;
const LOG_UNLIKELY = Math.log(0.1);

/**
 * Distance of the trained policy from the one that sampled: ratios, clipping, divergences and mismatch.
 * r_t = exp(logprob_t - behavior_t), s_i = exp(mean_t log r_t) over the tokens with mask 1
 * KL(behavior || policy), from samples of the behavior: k1 = -log r, k3 = r - 1 - log r ESS = (sum w)^2 / (n sum w^2)
 * Source: GSPO (Zheng et al. 2025); k1, k3: Schulman, "Approximating KL divergence" (2020).
 */
export function putPolicyMetrics(sheet: MetricSheet, facts: StepFacts): void {
  if (facts.update === undefined || facts.update.report.trainedTokens === 0) return;
  const ratios = putTokenMetrics(sheet, facts.update);
  putSequenceMetrics(sheet, facts.update, ratios);
  putAdvantages(sheet, facts.update);
}

/** Each sequence's ratio, the objective's ratio, and whether it was clipped; leaves out empty sequences. */
interface SequenceRatios {
  readonly sequences: number[];
  readonly values: number[];
  readonly ofObjective: number[];
  readonly clipped: boolean[];
}

function putTokenMetrics(sheet: MetricSheet, update: UpdateFacts): SequenceRatios {
  const { cuSeqlens, mask, behaviorLogprobs } = update.batch;
  const { logprobs, clipped } = update.report;
  const moved = objectiveRatios(update);
  const divergence = new TokenDivergence(update);
  const mismatch = new Mismatch(update.report.trainedTokens);
  const ratios: SequenceRatios = { sequences: [], values: [], ofObjective: [], clipped: [] };
  for (let i = 0; i + 1 < cuSeqlens.length; ++i) {
    const { versions, oldestKvVersions, tokens } = update.rollouts[i]!.rollout;
    const response = cuSeqlens[i + 1]! - tokens.length;
    let sum = 0;
    let n = 0;
    let anyClipped = false;
    let last = 0;
    for (let t = cuSeqlens[i]!; t < cuSeqlens[i + 1]!; ++t) {
      if (mask[t] === 0) continue;
      const logRatio = logprobs[t]! - behaviorLogprobs[t]!;
      sum += logRatio;
      divergence.add(t, i, logRatio);
      mismatch.add(
        logprobs[t]!,
        behaviorLogprobs[t]!,
        sourceOf(versions[t - response]!, oldestKvVersions[t - response]!, update.version),
      );
      if (clipped[t] !== 0) anyClipped = true;
      n += 1;
      last = t;
    }
    if (n === 0) continue;
    ratios.sequences.push(i);
    const ratio = Math.exp(sum / n);
    ratios.values.push(ratio);
    ratios.ofObjective.push(moved?.[last] ?? ratio);
    ratios.clipped.push(anyClipped);
  }
  divergence.put(sheet);
  mismatch.put(sheet);
  return ratios;
}

/**
 * [T] ratios of the objective, if they differ from the ratios to the sampler's log-probs before the step:
 * those of the last update that contained each token.
 */
const objectiveRatios = ({ updates, report }: UpdateFacts): Float32Array | undefined =>
  updates && report.ratios;

/** Token-level sums over one batch; plain fields, because this is the loop over every trained token. */
class TokenDivergence {
  readonly #update: UpdateFacts;
  readonly #moved: Float32Array | undefined;
  readonly #sides = new Sides();
  #n = 0;
  #logRatio = 0;
  #absolute = 0;
  #absoluteMax = 0;
  #ratio = 0;
  #ratioMax = 0;
  #ratioSquares = 0;
  #k3 = 0;
  #chi2 = 0;
  #clipped = 0;
  #entropy = 0;
  #divergence = 0;
  readonly #frozen: readonly FrozenDivergence[];

  constructor(update: UpdateFacts) {
    this.#update = update;
    this.#moved = objectiveRatios(update);
    this.#frozen = [
      new FrozenDivergence("reference", update.batch.referenceLogprobs),
      new FrozenDivergence("teacher", update.teacherLogprobs),
    ].filter(({ isMeasured }) => isMeasured);
  }

  add(t: number, sequence: number, logRatio: number): void {
    const { batch, report, clip } = this.#update;
    const ratio = Math.exp(logRatio);
    const absolute = Math.abs(logRatio);
    this.#n += 1;
    this.#logRatio += logRatio;
    this.#absolute += absolute;
    if (absolute > this.#absoluteMax) this.#absoluteMax = absolute;
    this.#ratio += ratio;
    if (ratio > this.#ratioMax) this.#ratioMax = ratio;
    this.#ratioSquares += ratio * ratio;
    this.#k3 += ratio - 1 - logRatio; // the difference of the other sums would cancel most digits
    this.#chi2 += (ratio - 1) ** 2;
    if (report.clipped[t] !== 0) this.#clipped += 1;
    this.#entropy += report.entropies[t]!;
    this.#divergence += report.divergences?.[t] ?? 0;
    const advantage = batch.tokenAdvantages?.[t] ?? batch.advantages[sequence]!;
    if (clip?.of === "token") this.#sides.add(this.#moved?.[t] ?? ratio, advantage, clip);
    for (const frozen of this.#frozen) frozen.add(t, report.logprobs[t]!);
  }

  put(sheet: MetricSheet): void {
    const n = this.#n;
    sheet.share("log-ratio/mean", this.#logRatio, n);
    sheet.share("log-ratio/abs-mean", this.#absolute, n);
    sheet.put("log-ratio/abs-max", this.#absoluteMax);
    sheet.share("token-ratio/mean", this.#ratio, n);
    sheet.put("token-ratio/max", this.#ratioMax);
    sheet.share("kl/k1", 0 - this.#logRatio, n);
    sheet.share("kl/k3", this.#k3, n);
    sheet.share("kl/chi2", this.#chi2, n);
    for (const frozen of this.#frozen) frozen.put(sheet, n);
    if (this.#update.report.divergences?.length)
      sheet.share(
        this.#update.divergesFrom === "reference" ? "kl/reference/full" : "kl/teacher/divergence",
        this.#divergence,
        n,
      );
    sheet.share("ess/tokens", this.#ratio ** 2, n * this.#ratioSquares);
    sheet.share("clip/tokens", this.#clipped, n);
    sheet.share("entropy/trained", this.#entropy, n);
    const { entropyCoef } = this.#update;
    if (entropyCoef !== undefined) sheet.put("entropy/coef", entropyCoef);
    this.#sides.put(sheet);
  }
}

/** Estimates of KL(policy || a frozen policy) from the sampled tokens. */
class FrozenDivergence {
  readonly #name: string;
  readonly #logprobs: Float32Array | undefined;
  #gap = 0;
  #k3 = 0;

  constructor(name: "reference" | "teacher", logprobs: Float32Array | undefined) {
    this.#name = name;
    this.#logprobs = logprobs;
  }

  get isMeasured(): boolean {
    return this.#logprobs !== undefined;
  }

  add(t: number, policy: number): void {
    const gap = this.#logprobs![t]! - policy;
    this.#gap += gap;
    this.#k3 += Math.exp(gap) - gap - 1;
  }

  put(sheet: MetricSheet, n: number): void {
    sheet.share(`kl/${this.#name}/k1`, 0 - this.#gap, n);
    sheet.share(`kl/${this.#name}/k3`, this.#k3, n);
  }
}

/** Ratios outside the clip range, by side and by the sign of the advantage. */
class Sides {
  #n = 0;
  readonly #outside = { "high/positive": 0, "high/negative": 0, "low/positive": 0, "low/negative": 0 };

  add(ratio: number, advantage: number, clip: { readonly low: number; readonly high: number }): void {
    this.#n += 1;
    const side = ratio > 1 + clip.high ? "high" : ratio < 1 - clip.low ? "low" : undefined;
    if (side !== undefined && advantage !== 0) {
      this.#outside[`${side}/${advantage > 0 ? "positive" : "negative"}`] += 1;
    }
  }

  put(sheet: MetricSheet): void {
    for (const [name, count] of Object.entries(this.#outside)) sheet.share(`clip/${name}`, count, this.#n);
    // Only clip/high/positive and clip/low/negative zero the gradient; in the other two cases the ratio is out of
    // range but the gradient is unaffected.
    sheet.share("clip/high", this.#outside["high/positive"], this.#n);
    sheet.share("clip/low", this.#outside["low/negative"], this.#n);
  }
}

const SOURCES = ["kernel", "stale-kv", "policy"] as const;
const KERNEL = 0;
const STALE_KV = 1;
const POLICY = 2;

/** Why a token's two log-probs may differ: only arithmetic, keys of older weights, or other weights. */
function sourceOf(version: number, oldestKv: number, trainer: number): number {
  if (version !== trainer) return POLICY;
  return oldestKv === version ? KERNEL : STALE_KV;
}

/** |logprob_trainer - logprob_engine| by source; "lag0" is kernel and stale-kv together. */
class Mismatch {
  readonly #counts = new Float64Array(SOURCES.length);
  readonly #sums = new Float64Array(SOURCES.length);
  readonly #maxima = new Float64Array(SOURCES.length);
  readonly #lag0: Float64Array;
  readonly #pair = new Correlation();
  #n = 0;
  #large = 0;
  #unlikely = 0;
  #unlikelyGap = 0;

  constructor(tokens: number) {
    this.#lag0 = new Float64Array(tokens);
  }

  add(trainer: number, engine: number, source: number): void {
    const gap = Math.abs(trainer - engine);
    this.#counts[source]! += 1;
    this.#sums[source]! += gap;
    if (gap > this.#maxima[source]!) this.#maxima[source] = gap;
    if (source === POLICY) return;
    this.#lag0[this.#n++] = gap;
    this.#pair.add(trainer, engine);
    if (gap > LARGE_MISMATCH) this.#large += 1;
    if (engine >= LOG_UNLIKELY) return;
    this.#unlikely += 1;
    this.#unlikelyGap += Math.abs(Math.exp(trainer) - Math.exp(engine));
  }

  put(sheet: MetricSheet): void {
    SOURCES.forEach((source, i) => {
      const n = this.#counts[i]!;
      if (n === 0) return;
      sheet.put(`mismatch/${source}/mean`, this.#sums[i]! / n);
      sheet.put(`mismatch/${source}/max`, this.#maxima[i]);
      sheet.put(`mismatch/${source}/tokens`, n);
    });
    const n = this.#n;
    if (n === 0) return;
    sheet.put("mismatch/lag0/mean", (this.#sums[KERNEL]! + this.#sums[STALE_KV]!) / n);
    sheet.put("mismatch/lag0/max", Math.max(this.#maxima[KERNEL]!, this.#maxima[STALE_KV]!));
    sheet.quantiles("mismatch/lag0", this.#lag0.subarray(0, n), [0.999]);
    sheet.put("mismatch/lag0/large", this.#large / n);
    sheet.put("mismatch/lag0/correlation", this.#pair.pearson());
    sheet.share("mismatch/lag0/unlikely-prob-gap", this.#unlikelyGap, this.#unlikely);
  }
}

/** Pearson's r, in one pass. */
class Correlation {
  #n = 0;
  #x = 0;
  #y = 0;
  #xx = 0;
  #yy = 0;
  #xy = 0;

  add(x: number, y: number): void {
    this.#n += 1;
    const dx = x - this.#x;
    const dy = y - this.#y;
    this.#x += dx / this.#n;
    this.#y += dy / this.#n;
    this.#xx += dx * (x - this.#x);
    this.#yy += dy * (y - this.#y);
    this.#xy += dx * (y - this.#y);
  }

  pearson(): number {
    return this.#xy / Math.sqrt(this.#xx * this.#yy);
  }
}

function putSequenceMetrics(sheet: MetricSheet, update: UpdateFacts, ratios: SequenceRatios): void {
  const { advantages } = update.batch;
  const moments = new Moments();
  const sides = new Sides();
  let deviation = 0;
  let squares = 0;
  ratios.values.forEach((s, k) => {
    moments.add(s);
    deviation += Math.abs(s - 1);
    squares += s * s;
    if (update.clip?.of === "sequence")
      sides.add(ratios.ofObjective[k]!, advantages[ratios.sequences[k]!]!, update.clip);
  });
  sheet.put("ratio/mean", moments.mean);
  sheet.put("ratio/std", moments.std);
  sheet.put("ratio/min", moments.min);
  sheet.put("ratio/max", moments.max);
  sheet.quantiles("ratio", Float64Array.from(ratios.values), [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]);
  sheet.share("ratio/deviation", deviation, moments.n);
  sheet.share("ess/sequences", moments.sum ** 2, moments.n * squares);
  sheet.share("clip/sequences", ratios.clipped.filter(Boolean).length, moments.n);
  sides.put(sheet);
}

function putAdvantages(sheet: MetricSheet, update: UpdateFacts): void {
  const moments = new Moments();
  const mass = new MomentsBy<string>();
  let positive = 0;
  let total = 0;
  update.rollouts.forEach(({ rollout }, i) => {
    const advantage = update.batch.advantages[i]!;
    moments.add(advantage);
    if (advantage > 0) positive += 1;
    const share = Math.abs(advantage) * sampledTokens(rollout);
    mass.add(rollout.problem.domain, share);
    total += share;
  });
  sheet.put("advantage/mean", moments.mean);
  sheet.put("advantage/std", moments.std);
  sheet.put("advantage/min", moments.min);
  sheet.put("advantage/max", moments.max);
  sheet.share("advantage/positive", positive, moments.n);
  for (const [domain, m] of mass.entries()) sheet.share(`mixture/gradient-mass/${domain}`, m.sum, total);
}
