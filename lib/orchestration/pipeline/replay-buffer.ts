import type { Recipe } from "../../config/index.ts";
import { CounterRandom } from "../../random.ts";
import type { StepBatch } from "./batcher.ts";
import type { ReplayedGroup, SettledGroup } from "./grouper.ts";

/** Separates the random draws of a buffer from those of domains and problems. */
const STREAM = 0x52504c59;
/** Tolerance for a share's number of groups: 0.2 of 10 may be computed as 1.9999999999999998. */
const ROUNDING = 1e-9;

type Rule = Recipe["training"]["replayBuffer"];

/**
 * The kept groups of the last `maxAge` steps. In addition to its K fresh kept groups, each step trains on
 * R = min(groups in the buffer, floor(K share / (1 - share)))
 * of them, drawn uniformly without replacement by (seed, step). A step's draw is a function of what earlier
 * steps trained, so that a resumed run and a replay draw the same.
 * Source: age bound and fresh groups first as in Yoo et al. 2026 (arXiv 2606.04560); whole groups of recent
 * steps, with the sampler's log-probs in the ratio, as in Sun et al. 2025 (arXiv 2506.05316).
 */
export class ReplayBuffer {
  readonly #rule: Rule;
  readonly #seed: number;
  readonly #keep: number;
  #groups: readonly ReplayedGroup[];

  /**
   * @param groups kept groups of earlier steps, by group number within each step
   * @param keep number of steps whose groups are kept; more than this recipe's maxAge
   *     if the recipe of a later session of the run needs older groups
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

  /** Returns the batch with replayed groups added. */
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

  /** Adds the kept groups of a finished step, which later steps may draw. */
  trained({ groups }: StepBatch, step: number): void {
    if (this.#keep === 0) return;
    const fresh = groups.flatMap((settled) =>
      settled.group.dropped === undefined ? [{ ...settled, first: step }] : [],
    );
    this.#groups = [...this.#groups.filter(({ first }) => step + 1 - first <= this.#keep), ...fresh];
  }
}

/**
 * A step's groups, kept and dropped, in the order of the batch, with the buffer's groups evenly distributed among its
 * kept ones, so that each of several updates has a share of both.
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
