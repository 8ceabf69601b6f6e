import type { EngineFace, StepOptions, StepReport, TrainerFace, TrainingBatch } from "../../native/face.ts";
import type { SettledGroup } from "./grouper.ts";
import type { FirstPass } from "./token-selection.ts";
import { type AssembledBatch, assembleBatch } from "./training-batch.ts";

/** How a batch is divided into optimizer updates: each of `epochs` passes over it consists of `updatesPerBatch` updates. */
export interface UpdateRule {
  readonly updatesPerBatch: number;
  readonly epochs: number;
}

/** One of several updates on a batch. */
export interface UpdateReport {
  /** Index of the epoch, from 0. */
  readonly epoch: number;
  readonly groups: number;
  /** N, which includes masked rollouts; `rollouts` counts only those that the update trained on. */
  readonly sequences: number;
  readonly rollouts: number;
  readonly tokens: number;
  readonly loss: number;
  readonly gradNorm: number;
  readonly skipped: boolean;
}

/** Consecutive groups of a batch, for one update. */
export interface MiniBatch {
  readonly batch: AssembledBatch;
  /** Index of the update's first sequence in the whole batch. */
  readonly firstSequence: number;
  readonly firstToken: number;
}

/** A batch, its groups, and what its updates have in common. */
export interface BatchUpdates {
  readonly groups: readonly SettledGroup[];
  /** The whole batch, with the reference policy's log-probs if the objective has a KL term, and the teacher's advantages. */
  readonly whole: AssembledBatch;
  readonly options: StepOptions;
  readonly rule: UpdateRule;
  readonly maxOutputTokens: number;
  /** Log-probs of `whole`, if another computation already needed them. */
  readonly first?: TimedPass;
}

export interface TimedPass extends FirstPass {
  readonly seconds: number;
}

/** Scores every token of a batch under the weights before its first update. */
export async function scoreFirst(
  trainer: TrainerFace,
  data: TrainingBatch,
  { rollouts: { temperature } }: { readonly rollouts: { readonly temperature: number } },
): Promise<TimedPass> {
  const begun = performance.now();
  const { logprobs, entropies } = await trainer.score(data, temperature);
  return { logprobs, entropies, seconds: (performance.now() - begun) / 1000 };
}

/**
 * Runs the updates of one batch; they count as one weight version, published once after the last of them. With
 * several updates the old log-probs are those of the weights before the first, computed once. An update whose loss or
 * gradient is not finite is skipped alone.
 * @returns one report of the whole batch: sums of tokens and seconds, means of losses and norms, per-token arrays in
 * the order of the batch; `logprobs` and `entropies` are those before the first update, `ratios` and `clipped` those
 * of the last epoch. `updates` is absent if there was only one update.
 */
export async function updatePolicy(
  batch: BatchUpdates,
  trainer: TrainerFace,
  engine?: EngineFace,
): Promise<{ readonly report: StepReport; readonly updates?: readonly UpdateReport[] }> {
  const { whole, options, rule } = batch;
  if (rule.updatesPerBatch * rule.epochs === 1) {
    const report = await trainer.step(whole.data, options, engine);
    const forwardSeconds = report.forwardSeconds + (batch.first?.seconds ?? 0);
    return { report: { ...report, forwardSeconds } };
  }
  const before = trainer.version;
  const old = batch.first ?? (await scoreFirst(trainer, whole.data, { rollouts: options }));
  const sum = new BatchReport(whole, old);
  const parts = miniBatches(batch.groups, rule.updatesPerBatch, batch.maxOutputTokens);
  for (let epoch = 0; epoch < rule.epochs; ++epoch) {
    for (const [i, part] of parts.entries()) {
      const isLast = epoch + 1 === rule.epochs && i + 1 === parts.length;
      const data = updateData(part, whole, old.logprobs);
      const kept = isLast ? options : { ...options, keepsVersion: true };
      sum.add(epoch, part, await trainer.step(data, kept, isLast ? engine : undefined));
    }
  }
  const report = sum.report();
  if (!report.skipped && trainer.version === before) {
    // the last update was skipped, so it neither raised the version nor published the updates before it
    await trainer.setVersion(before + 1);
    if (engine !== undefined) await trainer.publish(engine);
  }
  return { report, updates: sum.updates };
}

/**
 * Divides the kept groups of a batch into at most `parts` consecutive parts whose sizes differ by at most one
 * group. Omits a part whose rollouts are all masked.
 */
export function miniBatches(
  groups: readonly SettledGroup[],
  parts: number,
  maxOutputTokens: number,
): MiniBatch[] {
  const kept = groups.filter(({ group }) => group.dropped === undefined);
  const n = Math.min(parts, kept.length);
  const out: MiniBatch[] = [];
  let firstSequence = 0;
  let firstToken = 0;
  for (let i = 0; i < n; ++i) {
    const run = kept.slice(Math.floor((i * kept.length) / n), Math.floor(((i + 1) * kept.length) / n));
    const batch = assembleBatch(run, maxOutputTokens);
    if (batch.rollouts.length > 0) out.push({ batch, firstSequence, firstToken });
    firstSequence += batch.rollouts.length;
    firstToken += batch.data.tokens.length;
  }
  return out;
}

/** The trainer's input for one update of several. @param old [T] old log-probs of the whole batch */
export function updateData(
  { batch: { data }, firstSequence, firstToken }: MiniBatch,
  whole: AssembledBatch,
  old: Float32Array,
): AssembledBatch["data"] {
  const own = (values: Float32Array) => values.slice(firstToken, firstToken + data.tokens.length);
  const counted = (mask: Uint8Array) => mask.reduce((n, one) => n + one, 0);
  const before = counted(whole.data.mask.subarray(0, firstToken));
  /** Rows of an array with a fixed number of columns per counted token. */
  const rows = <T extends Float32Array | Int32Array>(values: T) => {
    const columns = values.length / counted(whole.data.mask);
    return values.slice(before * columns, (before + counted(data.mask)) * columns) as T;
  };
  const { referenceLogprobs, tokenWeights, tokenPenalties } = whole.data;
  const { teacherHidden, teacherIds, teacherTopLogprobs } = whole.data;
  return {
    ...data,
    advantages: whole.data.advantages.slice(firstSequence, firstSequence + data.advantages.length),
    tokenAdvantages: own(whole.data.tokenAdvantages),
    proximalLogprobs: own(old),
    ...(referenceLogprobs && { referenceLogprobs: own(referenceLogprobs) }),
    ...(tokenWeights && { tokenWeights: own(tokenWeights) }),
    ...(tokenPenalties && { tokenPenalties: own(tokenPenalties) }),
    ...(teacherHidden && { teacherHidden: rows(teacherHidden) }),
    ...(teacherIds && { teacherIds: rows(teacherIds) }),
    ...(teacherTopLogprobs && { teacherTopLogprobs: rows(teacherTopLogprobs) }),
  };
}

/** Adds up the reports of a batch's updates. */
class BatchReport {
  readonly updates: UpdateReport[] = [];
  readonly #reports: StepReport[] = [];
  readonly #old: TimedPass;
  readonly #ratios: Float32Array;
  readonly #clipped: Uint8Array;
  readonly #weights: Float32Array;
  readonly #divergences: Float32Array;
  #nonFiniteSequence = -1;

  constructor({ data }: AssembledBatch, old: TimedPass) {
    const total = data.tokens.length;
    this.#old = old;
    this.#ratios = new Float32Array(total);
    this.#clipped = new Uint8Array(total);
    this.#weights = new Float32Array(total);
    this.#divergences = new Float32Array(total);
  }

  add(epoch: number, { batch, firstSequence, firstToken }: MiniBatch, report: StepReport): void {
    const { groups, sequences } = batch.data;
    const { loss, gradNorm, skipped, trainedTokens: tokens, nonFiniteSequence } = report;
    const rollouts = batch.rollouts.length;
    this.updates.push({ epoch, groups: groups!, sequences, rollouts, tokens, loss, gradNorm, skipped });
    this.#reports.push(report);
    this.#ratios.set(report.ratios, firstToken);
    this.#clipped.set(report.clipped, firstToken);
    this.#weights.set(report.weights, firstToken);
    this.#divergences.set(report.divergences, firstToken);
    if (this.#nonFiniteSequence < 0 && nonFiniteSequence >= 0)
      this.#nonFiniteSequence = firstSequence + nonFiniteSequence;
  }

  report(): StepReport {
    const taken = this.#reports.filter(({ skipped }) => !skipped);
    const of = taken.length > 0 ? taken : this.#reports;
    const sum = (name: SummedField) => this.#reports.reduce((total, report) => total + report[name], 0);
    const mean = (name: AveragedField) => of.reduce((total, report) => total + report[name], 0) / of.length;
    const last = this.#reports.at(-1)!;
    return {
      loss: mean("loss"),
      policyLoss: mean("policyLoss"),
      routerLoss: mean("routerLoss"),
      gradNorm: mean("gradNorm"),
      gradScale: mean("gradScale"),
      updateNorm: mean("updateNorm"),
      weightNorm: last.weightNorm,
      skipped: taken.length === 0,
      nonFiniteSequence: this.#nonFiniteSequence,
      givenRoutes: sum("givenRoutes"),
      replacedRoutes: sum("replacedRoutes"),
      microBatches: sum("microBatches"),
      trainedTokens: sum("trainedTokens"),
      packedTokens: sum("packedTokens"),
      forwardSeconds: sum("forwardSeconds") + this.#old.seconds,
      backwardSeconds: sum("backwardSeconds"),
      optimizerSeconds: sum("optimizerSeconds"),
      packSeconds: sum("packSeconds"),
      startSeconds: sum("startSeconds"),
      publishSeconds: sum("publishSeconds"),
      logprobs: this.#old.logprobs,
      entropies: this.#old.entropies,
      ratios: this.#ratios,
      clipped: this.#clipped,
      weights: last.weights.length > 0 ? this.#weights : last.weights,
      divergences: last.divergences.length > 0 ? this.#divergences : last.divergences,
      expertRows: last.expertRows.map((_, at) =>
        this.#reports.reduce((total, { expertRows }) => total + (expertRows[at] ?? 0), 0),
      ),
      layerGradNorms: last.layerGradNorms.map(
        (_, layer) => of.reduce((total, { layerGradNorms }) => total + layerGradNorms[layer]!, 0) / of.length,
      ),
    };
  }
}

type SummedField =
  | "givenRoutes"
  | "replacedRoutes"
  | "microBatches"
  | "trainedTokens"
  | "packedTokens"
  | "forwardSeconds"
  | "backwardSeconds"
  | "optimizerSeconds"
  | "packSeconds"
  | "startSeconds"
  | "publishSeconds";
type AveragedField = "loss" | "policyLoss" | "routerLoss" | "gradNorm" | "gradScale" | "updateNorm";
