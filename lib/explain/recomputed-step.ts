import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import type { StepOptions, StepReport, TrainerFace } from "../native/face.ts";
import {
  type AssembledBatch,
  openSlopes,
  type ResettledGroup,
  recordedBatch,
  type TeachTokens,
  taughtStep,
} from "../orchestration/index.ts";
import type { Rollout, ScoredRollout } from "../records.ts";
import { AskedObjective } from "./asked-objective.ts";
import { type ObjectiveSettings, type SequenceTerms, sequenceTerms } from "./objective-terms.ts";

/** A step computed once more by some settings: the core's report, and the terms of every token. */
export interface RecomputedStep {
  readonly batch: AssembledBatch;
  readonly options: StepOptions;
  readonly report: StepReport;
  /** Sequence i is rollout i of the batch. */
  readonly terms: readonly SequenceTerms[];
}

/**
 * Runs forward and backward of the step, or of one of its updates, with a learning rate of 0, which leaves
 * the weights unchanged, and computes each token's terms from the log-probs. Undefined if no group is kept.
 * @param oldLogprobs of a completion, under the weights before the first of several updates. Throws
 * HONE_ERR_INTERNAL if formulas and core disagree, HONE_ERR_CONFIG or HONE_ERR_OBJECTIVE if a custom
 * objective's module cannot be loaded or fails.
 */
export async function recomputeStep(
  trainer: TrainerFace,
  groups: readonly ResettledGroup[],
  recipe: Recipe,
  options: StepOptions,
  {
    oldLogprobs,
    teach,
  }: { readonly oldLogprobs?: (rollout: Rollout) => Float32Array; readonly teach?: TeachTokens | undefined },
): Promise<RecomputedStep | undefined> {
  const recorded = recordedBatch(groups, recipe);
  const old = oldLogprobs === undefined ? recorded : withOldLogprobs(recorded, oldLogprobs);
  if (old.rollouts.length === 0) return undefined;
  const { batch, options: taught } = await taughtStep(old, options, recipe, teach);
  const still = { ...taught, lr: 0, muonLr: 0 };
  const slopes = await openSlopes(recipe);
  const asked = slopes && new AskedObjective(slopes, recipe.objective, batch);
  const report = await trainer.step(
    asked?.data ?? batch.data,
    asked === undefined ? still : { ...still, slopes: asked.ask },
  );
  const terms = termsOf(batch, report, still, asked);
  if (!report.skipped) expectAgreement(terms, batch, report, still);
  return { batch, options: still, report, terms };
}

function withOldLogprobs(batch: AssembledBatch, of: (rollout: Rollout) => Float32Array): AssembledBatch {
  const proximalLogprobs = new Float32Array(batch.data.tokens.length);
  for (const [i, { rollout }] of batch.rollouts.entries())
    proximalLogprobs.set(of(rollout), responseOf(batch, i)[0]);
  return { ...batch, data: { ...batch.data, proximalLogprobs } };
}

/** Range of a sequence's generated tokens in the arrays of its batch. */
export function responseOf({ data, rollouts }: AssembledBatch, sequence: number): [number, number] {
  const end = data.cuSeqlens[sequence + 1]!;
  return [end - rollouts[sequence]!.rollout.tokens.length, end];
}

/** Indices of the sampled tokens, over which a sequence's terms are defined. */
export function sampledPositions({ tokens, episode }: Pick<Rollout, "tokens" | "episode">): number[] {
  return [...tokens.keys()].filter((t) => episode?.given[t] !== 1);
}

/** Index of a rollout's sequence in the batch; undefined if the rollout is not trained on. */
export function sequenceOf(batch: AssembledBatch, rollout: ScoredRollout["rollout"]): number | undefined {
  const sequence = batch.rollouts.findIndex((member) => member.rollout === rollout);
  return sequence < 0 ? undefined : sequence;
}

function termsOf(
  batch: AssembledBatch,
  report: StepReport,
  settings: ObjectiveSettings,
  asked: AskedObjective | undefined,
): SequenceTerms[] {
  const { data } = batch;
  const totals = {
    sequences: data.sequences,
    groups: data.groups!,
    tokens: report.trainedTokens,
    normalizer: data.drGrpoNormalizer!,
  };
  return batch.rollouts.map(({ rollout: { episode } }, i) => {
    const place = responseOf(batch, i);
    const sampled = (values: Float32Array) => {
      const response = values.subarray(...place);
      return episode === undefined ? response : response.filter((_, t) => episode.given[t] === 0);
    };
    return sequenceTerms(settings, totals, {
      logprobs: sampled(report.logprobs),
      behavior: sampled(data.behaviorLogprobs),
      entropies: sampled(report.entropies),
      reference: data.referenceLogprobs && sampled(data.referenceLogprobs),
      proximal: data.proximalLogprobs && sampled(data.proximalLogprobs),
      advantage: data.advantages[i]!,
      tokenAdvantages: batch.teacherLogprobs && sampled(data.tokenAdvantages),
      tokenWeights: data.tokenWeights && sampled(data.tokenWeights),
      tokenPenalties: data.tokenPenalties && sampled(data.tokenPenalties),
      groupSize: data.groupSizes![i]!,
      told: asked?.told(i),
    });
  });
}

/** Relative tolerance for a different exp implementation and sums in float64. */
const SUM_ERROR = 1e-10;

/** The loss contribution of divergences from a teacher's or the reference's distributions. */
function pulledBy(
  batch: AssembledBatch,
  report: StepReport,
  { divergence, sequenceWeight }: StepOptions,
): number {
  if (divergence === undefined) return 0;
  const coef = Math.fround(divergence.coef);
  const sumOf = (values: Float32Array) => values.reduce((sum, one) => sum + one, 0);
  if (divergence.bySequence !== true) return (sumOf(report.divergences) / report.trainedTokens) * coef;
  return batch.rollouts.reduce((all, { rollout }, i) => {
    const own = sumOf(report.divergences.subarray(...responseOf(batch, i)));
    const n = sequenceWeight === "length" ? 1 : sampledPositions(rollout).length;
    return n === 0 ? all : all + (coef / (batch.data.sequences * n)) * own;
  }, 0);
}

/** Throws unless the formulas of objective-terms.ts give the ratios, clips and loss that the core reports. */
function expectAgreement(
  terms: readonly SequenceTerms[],
  batch: AssembledBatch,
  report: StepReport,
  settings: StepOptions,
): void {
  const besides = pulledBy(batch, report, settings) + report.routerLoss; // which tokens are clipped is taken from the core
  const loss = terms.reduce((sum, sequence) => sum + sequence.loss, besides);
  const size = terms.reduce((sum, sequence) => sum + Math.abs(sequence.loss), 0);
  const refuse = (what: string): never => {
    throw new HoneError("HONE_ERR_INTERNAL", `explain: the core's result differs from the formulas: ${what}`);
  };
  if (Math.abs(loss - report.loss) > SUM_ERROR * (size + Math.abs(loss)))
    refuse(`loss: ${report.loss}, by the formulas ${loss}`);
  for (const [i, { tokens }] of terms.entries()) {
    const [start] = responseOf(batch, i);
    const places = sampledPositions(batch.rollouts[i]!.rollout);
    for (const [k, { ratio, clipped, bounded }] of tokens.entries()) {
      const at = start + places[k]!;
      const there = report.ratios[at]!;
      if (Math.abs(there - ratio) > 2 ** -23 * Math.abs(ratio))
        refuse(`ratio of sequence ${i}, token ${k}: ${there}, by the formulas ${ratio}`);
      if (((clipped ?? bounded) === undefined) !== (report.clipped[at] === 0))
        refuse(`clip of sequence ${i}, token ${k}`);
    }
  }
}
