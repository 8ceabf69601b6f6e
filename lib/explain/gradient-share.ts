import { HoneError } from "../errors.ts";
import type { StepOptions, TrainerFace, TrainingBatch } from "../native/face.ts";
import { type RecomputedStep, responseOf, sampledPositions } from "./recomputed-step.ts";

/** Contribution of a part of the step (g_x) to the step's gradient g, before clipping. */
export interface GradientPart {
  /**
   * |g_x|, the norm of the part's gradient.
   */
  readonly norm: number;
  /** <g_x, g> / (|g_x| |g|). */
  readonly cosine: number;
  /** <g_x, g> / |g|². The shares of a step's sequences sum to 1 if it has no entropy term; a negative one pulls against the rest. */
  readonly share: number;
}

export interface GradientShares {
  /** |g|, the norm of the gradient of the step as it was trained. */
  readonly norm: number;
  /** |g| computed from the explained coefficients alone: a backward pass with the coefficients and without an objective. */
  readonly fromCoefficients: number;
  readonly sequence: GradientPart;
  readonly token?: GradientPart;
}

/**
 * Measures g_x = Σ a_t ∇log p_t over a sequence, and over one of its tokens; a_t are the explained coefficients, so
 * the gradient of an entropy bonus is in g but in no part. Each part takes two backward passes: one of the sequence
 * alone, one of the step with the part scaled by |g| / |g_x|: |g/|g| + g_x/|g_x||² = 2 + 2 cosine.
 * @param token index in the sequence
 */
export async function gradientShares(
  trainer: TrainerFace,
  step: RecomputedStep,
  sequence: number,
  token?: number,
): Promise<GradientShares> {
  if (step.options.divergence !== undefined)
    throw new HoneError(
      "HONE_ERR_UNSUPPORTED",
      '--gradient does not work for a step with teacher.divergence or klEstimator "full", whose gradient comes from whole distributions',
      { hint: "Shares are of sampled tokens alone; leave --gradient out." },
    );
  const slopes = new SlopeGradient(trainer, step);
  const norm = step.report.gradNorm;
  const all = slopes.coefficients();
  const fromCoefficients = await slopes.norm(all);
  const part = (of?: number) => measurePart(slopes, all, norm, sequence, of);
  return {
    norm,
    fromCoefficients,
    sequence: await part(),
    ...(token !== undefined && { token: await part(token) }),
  };
}

async function measurePart(
  slopes: SlopeGradient,
  all: Float32Array,
  norm: number,
  sequence: number,
  token: number | undefined,
): Promise<GradientPart> {
  const own = slopes.part(sequence, token);
  const size = await slopes.norm(own, sequence);
  if (size === 0 || norm === 0) return { norm: size, cosine: 0, share: 0 };
  const grown = all.map((slope, t) => slope + (norm / size) * own[t]!);
  const cosine = ((await slopes.norm(grown)) / norm) ** 2 / 2 - 1;
  return { norm: size, cosine, share: (cosine * size) / norm };
}

/**
 * Norms of Σ a_t ∇log p_t for any a_t. The objective −(1/N) Σ ρ_t A_t with ρ = 1 (behaviour log-probs are those the step
 * computes) and A_t = −N a_t has these slopes; N is a power of two, so that they are exact.
 */
class SlopeGradient {
  readonly #trainer: TrainerFace;
  readonly #step: RecomputedStep;
  readonly #sequences: number;

  constructor(trainer: TrainerFace, step: RecomputedStep) {
    this.#trainer = trainer;
    this.#step = step;
    this.#sequences = 2 ** Math.ceil(Math.log2(step.batch.rollouts.length));
  }

  /** [T] coefficients of all tokens, in float32 as the core rounds them; 0 where masked out. */
  coefficients(): Float32Array {
    const slopes = new Float32Array(this.#step.batch.data.tokens.length);
    this.#step.terms.forEach((_, i) => {
      this.#fill(slopes, i);
    });
    return slopes;
  }

  /** [T] coefficients with those of all other sequences (or tokens) set to 0. */
  part(sequence: number, token?: number): Float32Array {
    const slopes = new Float32Array(this.#step.batch.data.tokens.length);
    this.#fill(slopes, sequence, token);
    return slopes;
  }

  /** Norm of a gradient. @param sequence if given, of this sequence alone, without the entropy term. */
  async norm(slopes: Float32Array, sequence?: number): Promise<number> {
    const { data } = this.#step.batch;
    const width = (data.routes?.length ?? 0) / data.tokens.length;
    const [from, to] =
      sequence === undefined
        ? [0, data.tokens.length]
        : [data.cuSeqlens[sequence]!, data.cuSeqlens[sequence + 1]!];
    const batch: TrainingBatch = {
      tokens: data.tokens.slice(from, to),
      mask: data.mask.slice(from, to),
      cuSeqlens: sequence === undefined ? data.cuSeqlens : Int32Array.of(0, to - from),
      behaviorLogprobs: this.#step.report.logprobs.slice(from, to),
      tokenAdvantages: slopes.slice(from, to).map((slope) => -this.#sequences * slope),
      sequences: this.#sequences,
      ...(data.routes && { routes: data.routes.slice(from * width, to * width) }),
    };
    return (await this.#trainer.step(batch, this.#options(sequence === undefined))).gradNorm;
  }

  #options(whole: boolean): StepOptions {
    const { correction: _, divergence: __, router: ___, ...options } = this.#step.options;
    const { sequences } = this.#step.batch.data;
    const entropyCoef = whole ? (options.entropyCoef * this.#sequences) / sequences : 0;
    return { ...options, objective: "ppo-clip", klCoef: 0, entropyCoef };
  }

  #fill(slopes: Float32Array, sequence: number, only?: number): void {
    const { batch, terms } = this.#step;
    const [start] = responseOf(batch, sequence);
    const places = sampledPositions(batch.rollouts[sequence]!.rollout);
    for (const [k, { coefficient }] of terms[sequence]!.tokens.entries())
      if (only === undefined || places[k] === only) slopes[start + places[k]!] = coefficient;
  }
}
