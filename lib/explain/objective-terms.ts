import type { StepOptions } from "../native/face.ts";
import { type LossTotals, OBJECTIVE_FORMS, weightInLoss } from "../shared/objectives/objective-forms.ts";
import type { ToldTerms } from "./asked-objective.ts";

/** Settings from which the terms of a step are computed; `objective` is its kind. */
export type ObjectiveSettings = Omit<StepOptions, "lr" | "muonLr" | "temperature" | "slopes">;

/** One trained sequence, one entry per generated token; natural logs. */
export interface TrainedSequence {
  /** Log-probs under the weights before the step. */
  readonly logprobs: Float32Array;
  readonly behavior: Float32Array;
  /** Nats, under the weights before the step. */
  readonly entropies: Float32Array;
  readonly reference?: Float32Array | undefined;
  /** Log-probs under the weights before the first of several updates; absent for a step with one update. */
  readonly proximal?: Float32Array | undefined;
  /** Advantage in float32, as passed to the trainer. */
  readonly advantage: number;
  /** Advantage of each token; absent if all tokens have their sequence's. */
  readonly tokenAdvantages?: Float32Array | undefined;
  /** Token weights computed by `objective.tokens`. */
  readonly tokenWeights?: Float32Array | undefined;
  readonly tokenPenalties?: Float32Array | undefined;
  /** |g|, the number of rollouts in the sequence's group. */
  readonly groupSize: number;
  /** Results of a custom objective. */
  readonly told?: ToldTerms | undefined;
}

/** The bound of the clip or of a correction that a ratio exceeds. */
export type Side = "high" | "low";
/** Why a token's term has no gradient, or a bounded weight; "masked": by `offPolicyMask`. */
export type Stop = Side | "masked";

export interface TokenTerm {
  /** exp(now − behavior) of this token alone. */
  readonly tokenRatio: number;
  /** A_t, the token's own advantage, if tokens have advantages of their own. */
  readonly advantage?: number;
  /** Ratio that the objective's clip or gate uses: the token's or the sequence's; 1 with a correction in a first update. */
  readonly ratio: number;
  /**
   * Set if clipping or `offPolicyMask` removed the gradient, or, for cispo and reinforce-clamped, clipping bounded its
   * weight. Unknown for a custom objective.
   */
  readonly clipped: Stop | undefined;
  /** Weight w of a correction; 1 without one. */
  readonly weight: number;
  /** Set if a correction's bounds changed w. */
  readonly bounded: Side | undefined;
  /** Result of `objective.tokens`, if the recipe has it: a factor of the policy's term, or a coefficient of |log ratio|. */
  readonly tokenWeight?: number;
  readonly tokenPenalty?: number;
  /** Derivatives of the step's loss in this token's log-probability: of the objective, of the KL term, and their sum. */
  readonly policySlope: number;
  readonly klSlope: number;
  readonly coefficient: number;
  /** Derivative in this token's entropy. */
  readonly entropyCoefficient: number;
  /** The token's part of the loss; for a sequence objective without correction only the sequence has one. */
  readonly loss: number;
}

export interface SequenceTerms {
  /** s_i = exp(mean of now − behavior). */
  readonly ratio: number;
  /**
   * w in: loss = sum over sequences of w times the mean over the sequence's tokens of the objective's term. Undefined
   * for a custom objective.
   */
  readonly weight: number | undefined;
  /** The sequence's part of the step's loss, including regularisers. */
  readonly loss: number;
  /** False if a custom objective returned one loss for this sequence and others. */
  readonly isOwnLoss: boolean;
  readonly tokens: readonly TokenTerm[];
}

/** Value to be minimised, slope in the token's log-probability, and the bound that was passed. */
interface Term {
  readonly value: number;
  readonly slope: number;
  readonly clipped: Stop | undefined;
}

/** Settings as the core reads them: numbers of a step's options are float32. */
interface Bounds {
  readonly low: number;
  readonly high: number;
}

interface ClipBounds extends Bounds {
  /** The ratio above which a term of a negative advantage is constant. */
  readonly dual: number;
}

const clip = (x: number, { low, high }: Bounds): number => (x > high ? high : x < low ? low : x);

const sideOf = (x: number, { low, high }: Bounds): Side | undefined =>
  x > high ? "high" : x < low ? "low" : undefined;

/** −min(x A, clip(x) A), for A < 0 at most −dual A; `dx` is the slope of x. The gradient is 0 only if the minimum is the clipped term. */
function clippedMinimum(x: number, dx: number, advantage: number, { low, high, dual }: ClipBounds): Term {
  const bounds = { low, high: advantage < 0 ? dual : high };
  const side = sideOf(x, bounds);
  const stops = (side === "high" && advantage !== 0) || (side === "low" && advantage < 0);
  if (stops) return { value: -clip(x, bounds) * advantage, slope: 0, clipped: side };
  return { value: -x * advantage, slope: -dx * advantage, clipped: undefined };
}

/** The term of a token that `offPolicyMask` leaves out. */
const MASKED: Term = { value: 0, slope: 0, clipped: "masked" };

/** A constant weight times the log-probability. */
const weighted = (weight: number, logprob: number, clipped?: Side): Term => ({
  value: -weight * logprob,
  slope: -weight,
  clipped,
});

/** −(4/τ) σ(τ(x − 1)) A, τ by the sign of A. */
function gated(x: number, advantage: number, { gate }: ObjectiveSettings): Term {
  const tau = Math.fround(advantage > 0 ? (gate?.positive ?? 1) : (gate?.negative ?? 1.05));
  const open = 1 / (1 + Math.exp(-tau * (x - 1)));
  const slope = open === 1 ? 0 : 4 * open * (1 - open) * x;
  return { value: (-4 / tau) * open * advantage, slope: -slope * advantage, clipped: undefined };
}

/** Inputs of the terms of a sequence's tokens. */
interface SequenceFacts {
  readonly settings: ObjectiveSettings;
  readonly bounds: ClipBounds;
  /** The ratio that all tokens of the sequence share, if any: s_i, or for gmpo the clipped mean. */
  readonly shared: number;
}

type BuiltIn = keyof typeof OBJECTIVE_FORMS;

interface TokenFacts {
  readonly ratio: number;
  /** Log ratio of this token. */
  readonly logRatio: number;
  readonly advantage: number;
  readonly logprob: number;
}

function tokenTerm(
  kind: BuiltIn,
  { settings, bounds, shared }: SequenceFacts,
  { ratio, logRatio, advantage, logprob }: TokenFacts,
): Term {
  switch (OBJECTIVE_FORMS[kind].bound) {
    case "clip":
      return clippedMinimum(ratio, ratio, advantage, bounds);
    case "log-clip": {
      const { clipped } = clippedMinimum(logRatio, 1, advantage, bounds);
      return { value: -shared * advantage, slope: clipped ? 0 : -shared * advantage, clipped };
    }
    case "weight":
      return weighted(clip(ratio, bounds) * advantage, logprob, sideOf(ratio, bounds));
    case "weight-above": {
      const above = { low: 0, high: bounds.high };
      return weighted(clip(ratio, above) * advantage, logprob, sideOf(ratio, above));
    }
    case "gate":
      return gated(ratio, advantage, settings);
    case "none":
      return weighted(kind === "supervised" ? 1 : advantage, logprob);
  }
}

/** exp of the mean log ratio of a sequence; for gmpo of the log ratios as clipping leaves them. */
function sharedRatio(kind: BuiltIn, moved: Float64Array, advantage: number, bounds: ClipBounds): number {
  const bound = OBJECTIVE_FORMS[kind].bound === "log-clip";
  const of = (x: number) => (bound && clippedMinimum(x, 1, advantage, bounds).clipped ? clip(x, bounds) : x);
  return Math.exp(moved.reduce((all, x) => all + of(x), 0) / moved.length);
}

interface Weight {
  readonly weight: number;
  readonly bounded: Side | undefined;
}

const ONE: Weight = { weight: 1, bounded: undefined };

/** KL of two distributions over (a token, any other), from the log-probs of the token. */
function binaryKl(was: number, now: number): number {
  const [othersWere, others] = [Math.max(0, -Math.expm1(was)), Math.max(0, -Math.expm1(now))];
  return Math.exp(was) * (was - now) + (othersWere > 0 ? othersWere * Math.log(othersWere / others) : 0);
}

/** Facts about a token that a mask of probability gaps (DPPO) needs. */
interface SampledToken {
  readonly was: number;
  readonly now: number;
  readonly advantage: number;
}

/** The bound that masks a token of DPPO: the bound on the side towards which the advantage moves the probability. */
function gapSide(
  kind: "dppo-tv" | "dppo-kl",
  { was, now, advantage }: SampledToken,
  bounds: Bounds,
): Side | undefined {
  const gap = kind === "dppo-tv" ? Math.abs(Math.exp(now) - Math.exp(was)) : binaryKl(was, now);
  if (advantage > 0 && now > was && gap > bounds.high) return "high";
  return advantage < 0 && now < was && gap > bounds.low ? "low" : undefined;
}

/** Weight w of each token, from log q_t = old − behavior. */
function corrections(
  { correction }: ObjectiveSettings,
  gaps: Float64Array,
  sum: number,
  tokens: (t: number) => SampledToken,
): Weight[] {
  const kind = correction?.kind ?? "none";
  const bounds = { low: Math.fround(correction?.low ?? 0), high: Math.fround(correction?.high ?? 1) };
  const truncated = (x: number): Weight => ({ weight: clip(x, bounds), bounded: sideOf(x, bounds) });
  const masked = (x: number, weight: number): Weight => {
    const bounded = sideOf(x, bounds);
    return { weight: bounded === undefined ? weight : 0, bounded };
  };
  const whole = Math.exp(sum);
  const mean = Math.exp(sum / gaps.length);
  return Array.from(gaps, (gap, t): Weight => {
    const q = Math.exp(gap);
    switch (kind) {
      case "tis":
        return truncated(q);
      case "icepop":
        return masked(q, q);
      case "sequence-tis":
        return truncated(whole);
      case "sequence-mask":
        return masked(whole, whole);
      case "geometric-mask":
        return masked(mean, q);
      case "dppo-tv":
      case "dppo-kl": {
        const bounded = gapSide(kind, tokens(t), bounds);
        return { weight: bounded ? 0 : q, bounded };
      }
      default:
        return ONE;
    }
  });
}

/** Contribution of the KL term for a token, d = reference − now; `ratio` is exp(now − behavior). */
function klTerm(estimator: NonNullable<ObjectiveSettings["klEstimator"]>, d: number, ratio: number) {
  switch (estimator) {
    case "unbiased":
      return { value: ratio * (Math.expm1(d) - d), slope: -ratio * d };
    case "k1":
      return { value: -d, slope: 1 };
    case "k2":
      return { value: (d * d) / 2, slope: -d };
    case "k3":
      return { value: Math.expm1(d) - d, slope: -Math.expm1(d) };
  }
}

/** Result of `objective.tokens` for a token: a factor of its term, and an added penalty of its log ratio. */
function selection({ tokenWeights, tokenPenalties }: TrainedSequence, t: number, logRatio: number) {
  const tokenPenalty = tokenPenalties?.[t] ?? 0;
  const penalty = { value: tokenPenalty * Math.abs(logRatio), slope: tokenPenalty * Math.sign(logRatio) };
  const told = {
    ...(tokenWeights && { tokenWeight: tokenWeights[t]! }),
    ...(tokenPenalties && { tokenPenalty }),
  };
  return { factor: tokenWeights?.[t] ?? 1, penalty, told };
}

/**
 * The terms of one sequence in float64, by the formulas of docs/reference/recipe.md; first rounds the values that the
 * core receives as float32 (advantages, bounds, coefficients). Sums ascend in the token, as in the core. A custom
 * objective's slopes and loss are those that its function returned.
 */
export function sequenceTerms(
  settings: ObjectiveSettings,
  totals: LossTotals,
  sequence: TrainedSequence,
): SequenceTerms {
  const { logprobs, behavior, entropies, reference, advantage, groupSize, told } = sequence;
  const n = logprobs.length;
  const corrected = (settings.correction?.kind ?? "none") !== "none";
  const old = sequence.proximal ?? logprobs;
  const gapsTo = (from: Float32Array, to: Float32Array) => Float64Array.from(from, (x, t) => x - to[t]!);
  const sumOf = (gaps: Float64Array) => gaps.reduce((all, gap) => all + gap, 0);
  const gaps = gapsTo(logprobs, behavior);
  const sum = sumOf(gaps);
  const moved = corrected ? gapsTo(logprobs, old) : gaps;
  const stale = corrected ? gapsTo(old, behavior) : gaps;
  const { objective, sequenceWeight } = settings;
  const kind = objective === "custom" ? undefined : objective;
  const middle = objective === "gmpo" ? 0 : 1;
  const bounds = {
    low: middle - Math.fround(settings.clipLow),
    high: middle + Math.fround(settings.clipHigh),
    dual: Math.fround(settings.dualClip ?? Number.POSITIVE_INFINITY),
  };
  const weight = kind && weightInLoss({ kind, sequenceWeight }, totals, n, groupSize);
  const scale = (weight ?? n) / n;
  const regularizer = 1 / (totals.sequences * (settings.sequenceWeight === "length" ? 1 : n));
  const shared = kind ? sharedRatio(kind, moved, advantage, bounds) : 1;
  const advantageOf = (t: number) => sequence.tokenAdvantages?.[t] ?? advantage;
  const weights = corrections(settings, stale, sumOf(stale), (t) => ({
    was: behavior[t]!,
    now: logprobs[t]!,
    advantage: advantageOf(t),
  }));
  const masksBad = -sum / n > Math.fround(settings.offPolicyMask ?? Number.POSITIVE_INFINITY);
  const kl = Math.fround(settings.klCoef) * regularizer;
  const entropyCoefficient = -Math.fround(settings.entropyCoef) * regularizer;
  const tokens = Array.from(logprobs, (now, t): TokenTerm => {
    const tokenRatio = Math.exp(gaps[t]!);
    const ratio = kind && OBJECTIVE_FORMS[kind].ratio === "sequence" ? shared : Math.exp(moved[t]!);
    const facts = {
      ratio,
      logRatio: moved[t]!,
      advantage: advantageOf(t),
      logprob: now,
    };
    const term = kind
      ? masksBad && facts.advantage < 0
        ? MASKED
        : tokenTerm(kind, { settings, bounds, shared }, facts)
      : { value: 0, slope: told?.slopes[t] ?? Number.NaN, clipped: undefined };
    const d = reference === undefined || kl === 0 ? 0 : reference[t]! - now;
    const selected = selection(sequence, t, moved[t]!);
    // a custom objective's slopes already include the weights of its first pass
    const factor = scale * weights[t]!.weight * (kind ? selected.factor : 1);
    const policySlope = factor * term.slope + scale * selected.penalty.slope;
    const divergence = klTerm(settings.klEstimator ?? "k3", d, tokenRatio);
    const klSlope = kl * divergence.slope;
    return {
      tokenRatio,
      ...(sequence.tokenAdvantages && { advantage: sequence.tokenAdvantages[t]! }),
      ratio,
      clipped: term.clipped,
      ...weights[t]!,
      ...selected.told,
      policySlope,
      klSlope,
      coefficient: policySlope + klSlope,
      entropyCoefficient,
      loss:
        factor * term.value +
        scale * selected.penalty.value +
        kl * divergence.value +
        entropyCoefficient * entropies[t]!,
    };
  });
  const whole = kind ? 0 : (told?.loss ?? Number.NaN);
  const loss = tokens.reduce((all, token) => all + token.loss, whole);
  return { ratio: Math.exp(sum / n), weight, loss, isOwnLoss: told?.isOwn ?? true, tokens };
}
