import type { Recipe } from "../../config/index.ts";
import { CounterRandom } from "../../random.ts";
import type { StepBatch } from "./batcher.ts";
import type { ReplayedGroup, SettledGroup } from "./grouper.ts";

/** Keeps the draws of a buffer apart from those of domains and problems. */
const STREAM = 0x52504c59;
/** Of a share's number of groups: 0.2 of 10 may come out as 1.9999999999999998 beside 8. */
const ROUNDING = 1e-9;

type Rule = Recipe["training"]["replayBuffer"];

/**
 * The kept groups of the last `maxAge` steps. Each step trains, beside its K fresh kept groups, on
 *   R = min(groups here, floor(K share / (1 - share)))
 * of them, drawn uniformly without replacement by (seed, step); what a step draws is a function of what earlier ones
 * trained, so that a run that goes on and a replay draw the same.
 * Source: age bound and fresh groups first as in Yoo et al. 2026 (arXiv 2606.04560); whole groups of recent steps, with
 * the sampler's log-probs in the ratio, as in Sun et al. 2025 (arXiv 2506.05316).
 */
export class ReplayBuffer {
  readonly #rule: Rule;
  readonly #seed: number;
  readonly #keep: number;
  #groups: readonly ReplayedGroup[];

  /**
   * @param groups of earlier steps, those of each in the order of their numbers.
   * @param keep steps whose groups stay here where later ones are drawn by a rule of a greater age.
   */
  constructor(
    {
      seed,
      training: { replayBuffer },
    }: { readonly seed: number; readonly training: { replayBuffer?: Rule } },
    groups: readonly ReplayedGroup[] = [],
    keep = replayBuffer?.maxAge ?? 0,
  ) {
    this.#rule = replayBuffer;
    this.#seed = seed;
    this.#groups = groups;
    this.#keep = keep;
  }

  get groups(): readonly ReplayedGroup[] {
    return this.#groups;
  }

  /** The batch with groups that it trains on again. */
  filled(batch: StepBatch, step: number): StepBatch {
    if (this.#rule === undefined) return batch;
    const { share, maxAge } = this.#rule;
    const fresh = batch.groups.filter(({ group }) => group.dropped === undefined).length;
    const wanted = Math.floor((fresh * share) / (1 - share) + ROUNDING);
    const here = this.#groups.filter(({ first }) => step - first <= maxAge);
    const random = new CounterRandom(this.#seed, STREAM, step);
    const replayed = random.sample(here, wanted).sort((a, b) => a.request.group - b.request.group);
    return { ...batch, replayed };
  }

  /** The step has trained its kept groups, which can be drawn from the next one on. */
  trained({ groups }: StepBatch, step: number): void {
    if (this.#keep === 0) return;
    const fresh = groups.flatMap((settled) =>
      settled.group.dropped === undefined ? [{ ...settled, first: step }] : [],
    );
    this.#groups = [...this.#groups.filter(({ first }) => step + 1 - first <= this.#keep), ...fresh];
  }
}

/**
 * What a step trains on, in the order of the batch, and what it dropped: its own groups, and between its kept ones, evenly,
 * those of the buffer, so that each of several updates has its part of both.
 */
export function allGroups({
  groups,
  replayed = [],
}: Pick<StepBatch, "groups" | "replayed">): readonly SettledGroup[] {
  if (replayed.length === 0) return groups;
  const kept = groups.filter(({ group }) => group.dropped === undefined).length;
  const all: SettledGroup[] = [];
  let [passed, put] = [0, 0];
  for (const settled of groups) {
    all.push(settled);
    if (settled.group.dropped !== undefined) continue;
    passed += 1;
    const due = Math.floor((passed * replayed.length) / kept);
    all.push(...replayed.slice(put, due));
    put = due;
  }
  return all;
}
