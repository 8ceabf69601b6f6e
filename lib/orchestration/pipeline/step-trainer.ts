import type { Clock } from "../../clock.ts";
import { hasFullKl, looksAtGaps, type Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { EngineFace, StepOptions, StepReport, TrainerFace, TrainingBatch } from "../../native/face.ts";
import type { TeacherScores } from "../../native/teacher-face.ts";
import type { ScoredRollout } from "../../records.ts";
import type { StepBatch } from "./batcher.ts";
import { customSlopes, openSlopes } from "./custom-slopes.ts";
import type { EntropyControl } from "./entropy-control.ts";
import { type GradientFacts, gradientsAreDue, measureGradients } from "./gradient-parts.ts";
import { learningRateFactor } from "./learning-rate.ts";
import { scoreFirst, type UpdateReport, updatePolicy } from "./policy-updates.ts";
import { allGroups, type ReplayBuffer } from "./replay-buffer.ts";
import { weighedByObjective } from "./step-tokens.ts";
import { taughtBatch } from "./teacher-advantages.ts";
import { selectTokens } from "./token-selection.ts";
import { type AssembledBatch, assembleBatch } from "./training-batch.ts";

/** Outcome of one step, for the metrics and the log. */
export interface StepOutcome {
  readonly step: number;
  readonly batch: StepBatch;
  /** Weight version before and after. */
  readonly versionBefore: number;
  readonly version: number;
  /** Absent when no group survived the filter: then nothing was trained. */
  readonly update?: PolicyUpdate;
  /** Seconds. `waiting` begins when the next batch is requested, so it excludes the caller's work on the last outcome. */
  readonly timing: { readonly total: number; readonly waiting: number };
}

export interface PolicyUpdate extends AssembledBatch {
  readonly report: StepReport;
  /** Absent if the batch had only one update. */
  readonly updates?: readonly UpdateReport[];
  readonly learningRate: number;
  /** Coefficient of the entropy bonus. */
  readonly entropyCoef: number;
  /** Time for scoring by the reference policy; absent without one. */
  readonly referenceSeconds?: number;
  /** Time for scoring by the teacher; absent without one. */
  readonly teacherSeconds?: number;
  /** Gradient statistics, in steps that measure them. */
  readonly gradients?: GradientFacts;
  /** Rollout that made the loss non-finite. */
  readonly culprit?: ScoredRollout;
}

/**
 * [T] natural log-probs of a batch's tokens under other weights, at the training temperature, and their
 * distributions if the recipe compares distributions.
 */
export type TeachTokens = (batch: TrainingBatch) => Promise<TeacherScores>;

/** Frozen models that score a batch beside the policy. */
export interface FrozenScores {
  /** The frozen reference policy, if the objective has a KL term. */
  readonly reference?: TeachTokens;
  /** Present if the recipe has a teacher. */
  readonly teacher?: TeachTokens;
  /** Called after every step with the number of steps so far: replaces the reference by the policy when that is due. */
  readonly stepped?: (steps: number) => Promise<void>;
}

export interface StepTrainerParts {
  readonly recipe: Recipe;
  readonly trainer: TrainerFace;
  readonly engine: EngineFace;
  readonly clock: Clock;
  readonly frozen?: FrozenScores;
  /** Gives the coefficient of the entropy bonus for each step. */
  readonly entropy: EntropyControl;
  readonly buffer: ReplayBuffer;
  /** Called when the new weights are on their way, before the next batch is asked for. */
  readonly afterPublication: (batch: StepBatch) => void;
}

/** Trains each batch, publishes the new weights, and yields the outcome; ends after the recipe's last step. */
export async function* trainSteps(
  batches: AsyncIterable<StepBatch>,
  firstStep: number,
  parts: StepTrainerParts,
): AsyncGenerator<StepOutcome, void, undefined> {
  const { recipe, clock } = parts;
  let step = firstStep;
  let skippedInARow = 0;
  let lastEnd = clock.now();
  let asked = lastEnd;
  if (step >= recipe.training.steps) return;
  for await (const fresh of batches) {
    const started = clock.now();
    const versionBefore = parts.trainer.version;
    const batch = parts.buffer.filled(fresh, step);
    const update = await trainBatch(batch, step, { ...parts, measured: true });
    if (update?.report.skipped === false) parts.buffer.trained(batch, step);
    parts.afterPublication(batch);
    await parts.frozen?.stepped?.(step + 1);
    const end = clock.now();
    skippedInARow = update?.report.skipped ? skippedInARow + 1 : 0;
    yield {
      step,
      batch,
      versionBefore,
      version: parts.trainer.version,
      ...(update && { update }),
      timing: {
        total: (end - lastEnd) / 1000,
        waiting: (started - asked) / 1000,
      },
    };
    asked = clock.now();
    if (update !== undefined) failAfterSkips(update, step, skippedInARow, recipe);
    lastEnd = end;
    step += 1;
    if (step >= recipe.training.steps) return;
  }
}

/**
 * Trains one step and publishes it unless it was skipped. Undefined if no group was kept, so that there is
 * nothing to train on.
 * @param parts `measured`: also measures gradients of domains if the recipe asks for it at this step; this
 * does not change the step
 */
export async function trainBatch(
  batch: StepBatch,
  step: number,
  parts: Pick<StepTrainerParts, "recipe" | "trainer" | "engine" | "clock" | "frozen" | "entropy"> & {
    readonly measured?: boolean;
  },
): Promise<PolicyUpdate | undefined> {
  const { recipe } = parts;
  const groups = allGroups(batch);
  const assembled = assembleBatch(groups, recipe.rollouts.maxOutputTokens);
  if (assembled.rollouts.length === 0) return undefined;
  const learningRate =
    recipe.optimizer.lr * learningRateFactor(step, recipe.training.steps, recipe.optimizer);
  const reference = await timedScores(assembled.data, parts.frozen?.reference, parts.clock);
  const teacher = await timedScores(assembled.data, parts.frozen?.teacher, parts.clock);
  const taught = teacher ? taughtBatch(assembled, teacher.scores, recipe.teacher!) : assembled;
  const scored = { ...taught.data, ...(reference && referenceData(reference.scores)) };
  const custom = await openSlopes(recipe);
  const { tokens: rule } = recipe.objective;
  const first = (rule ?? custom?.firstPass) && (await scoreFirst(parts.trainer, scored, recipe));
  const data = {
    ...scored,
    ...(first && rule && selectTokens(rule, scored, first, { seed: recipe.seed, step })),
    ...(first &&
      custom?.firstPass && { tokenWeights: weighedByObjective(custom, scored, first, recipe, step) }),
  };
  const slopes = customSlopes(recipe);
  const entropyCoef = parts.entropy.applied;
  const options = {
    ...stepOptions(recipe, learningRate, entropyCoef),
    ...teacherTerm(recipe),
    ...(slopes && { slopes }),
  };
  const due = parts.measured === true && gradientsAreDue(recipe, step);
  const gradients = due ? await measureGradients(taught, { ...parts, data, options }) : undefined;
  const updates = {
    groups,
    whole: { ...taught, data },
    options,
    rule: recipe.training,
    maxOutputTokens: recipe.rollouts.maxOutputTokens,
    ...(first && { first }),
  };
  const updated = await updatePolicy(updates, parts.trainer, parts.engine);
  parts.entropy.stepped(updated.report.entropies, data.mask);
  const culprit = assembled.rollouts[updated.report.nonFiniteSequence];
  return {
    ...updates.whole,
    ...updated,
    learningRate,
    entropyCoef,
    ...(reference && { referenceSeconds: reference.seconds }),
    ...(teacher && { teacherSeconds: teacher.seconds }),
    ...(gradients && { gradients }),
    ...(culprit && { culprit }),
  };
}

const referenceData = ({ logprobs: referenceLogprobs, ...distributions }: TeacherScores) => ({
  referenceLogprobs,
  ...distributions,
});

/**
 * Options of the teacher's term of the loss; the record of a step lacks them, since a replay lets the teacher score
 * again.
 */
const teacherTerm = ({ teacher }: Recipe): Pick<StepOptions, "divergence"> =>
  teacher?.divergence ? { divergence: { coef: teacher.coef, beta: teacher.divergence.beta } } : {};

/** Inputs to train a recorded step again: with the teacher's or reference's scores of its batch, if the recipe needs them. */
export async function taughtStep(
  batch: AssembledBatch,
  options: StepOptions,
  recipe: Recipe,
  teach: TeachTokens | undefined,
): Promise<{ readonly batch: AssembledBatch; readonly options: StepOptions }> {
  const compares = recipe.teacher?.divergence !== undefined || hasFullKl(recipe.objective);
  if (teach === undefined || !compares || batch.rollouts.length === 0) return { batch, options };
  const { logprobs: _, ...distributions } = await teach(unrouted(batch.data));
  const taught = { ...batch, data: { ...batch.data, ...distributions } };
  return { batch: taught, options: { ...options, ...teacherTerm(recipe) } };
}

/** The batch without recorded routes, for scoring by a reference or teacher, whose own routers choose experts. */
const unrouted = ({ routes: _, ...data }: TrainingBatch): TrainingBatch => data;

async function timedScores<T>(
  data: TrainingBatch,
  score: ((data: TrainingBatch) => Promise<T>) | undefined,
  clock: Clock,
): Promise<{ readonly scores: T; readonly seconds: number } | undefined> {
  if (score === undefined) return undefined;
  const begun = clock.now();
  const scores = await score(unrouted(data));
  return { scores, seconds: (clock.now() - begun) / 1000 };
}

/** Options of a training step besides the batch and a custom objective's function. */
export function stepOptions(
  { objective, rollouts }: Recipe,
  lr: number,
  entropyCoef: number = objective.entropyCoef,
): Omit<StepOptions, "slopes"> {
  const {
    kind,
    sequenceWeight,
    clipLow,
    clipHigh,
    dualClip,
    offPolicyMask,
    gate,
    klEstimator,
    klTopK,
    correction,
    router,
  } = objective;
  const { temperature } = rollouts;
  const { kind: corrects, high = 0 } = correction; // the schema requires it for every kind except "none"
  const low = correction.low === 0 && looksAtGaps(corrects) ? high : correction.low;
  return {
    objective: kind,
    sequenceWeight,
    clipLow,
    clipHigh,
    ...(dualClip !== undefined && { dualClip }),
    ...(offPolicyMask !== undefined && { offPolicyMask }),
    ...(gate && { gate }),
    klCoef: 0,
    ...(klEstimator === "full"
      ? objective.klCoef !== 0 && {
          divergence: { coef: objective.klCoef, beta: 1, bySequence: true, rest: klTopK !== undefined },
        }
      : objective.klCoef !== 0 && { klCoef: objective.klCoef, klEstimator }),
    entropyCoef,
    temperature,
    lr,
    muonLr: 0,
    ...(corrects !== "none" && { correction: { kind: corrects, low, high } }),
    ...(router && { router: { balanceCoef: router.balanceCoef, zCoef: router.zCoef } }),
  };
}

/** Names a rollout: "math problem 17 (chain, level 2), attempt 3". */
export function nameRollout({ rollout: { problem, attempt } }: ScoredRollout): string {
  return `${problem.domain} problem ${problem.id} (${problem.family}, level ${problem.level}), attempt ${attempt}`;
}

/** Throws HONE_ERR_NON_FINITE for a skipped update if the recipe says so, and for too many skipped steps in a row. */
function failAfterSkips(update: PolicyUpdate, step: number, inARow: number, recipe: Recipe): void {
  const { onNonFinite, maxSkippedInARow } = recipe.training;
  const { skipped } = update.report;
  const someSkipped = skipped || update.updates?.some((one) => one.skipped) === true;
  if (!someSkipped || (onNonFinite === "skip" && (!skipped || inARow < maxSkippedInARow))) return;
  const whose = update.culprit === undefined ? "the gradient" : `the loss of ${nameRollout(update.culprit)}`;
  const problem = update.culprit?.rollout.problem;
  throw new HoneError(
    "HONE_ERR_NON_FINITE",
    skipped
      ? `step ${step}: ${whose} is not finite; ${inARow} step(s) skipped in a row`
      : `step ${step}: ${whose} is not finite in one of its ${update.updates!.length} updates, which was skipped`,
    {
      details: {
        step,
        domain: problem?.domain,
        problem: problem?.id,
        attempt: update.culprit?.rollout.attempt,
      },
      hint: `The weights are those ${skipped ? "before the step" : "after its other updates"}. Lower optimizer.lr, or resume from an earlier checkpoint.`,
    },
  );
}
