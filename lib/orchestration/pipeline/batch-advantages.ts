import { HoneError } from "../../errors.ts";
import type { RolloutGroup } from "../../records.ts";
import { batchAdvantages, type ShapingOptions } from "../../rewards/index.ts";
import type { StepBatch } from "./batcher.ts";
import type { SettledGroup } from "./grouper.ts";

/**
 * What a batch hook returns: the advantages of each group's rollouts, in the order of the groups; undefined
 * keeps a group's own.
 */
export type BatchWish = readonly (readonly number[] | undefined)[] | undefined;

/**
 * Called for every step with the groups that it trains on, in the order of their numbers; they hold rewards
 * and the recipe's advantages. The hook may return one advantage per rollout, in the group's order; it cannot
 * change rewards, scores and verdicts.
 */
export type BatchHook = (groups: readonly RolloutGroup[]) => BatchWish | Promise<BatchWish>;

/** Computes advantages that need all of a batch's groups; then calls the run's own hook. */
export async function* weighBatches(
  batches: AsyncIterable<StepBatch>,
  shaping: ShapingOptions,
  onBatch?: BatchHook,
): AsyncGenerator<StepBatch, void, undefined> {
  for await (const batch of batches) {
    const groups = weighed(batch.groups, shaping);
    const kept = groups.filter(({ group }) => group.dropped === undefined);
    const wish = kept.length === 0 ? undefined : await onBatch?.(kept.map(({ group }) => group));
    yield { ...batch, groups: wish === undefined ? groups : given(groups, wishesOf(kept, wish)) };
  }
}

/** The groups of a step with the recipe's advantages; see `batchAdvantages`. */
export function weighed<T extends SettledGroup>(
  groups: readonly T[],
  { advantage }: ShapingOptions,
): readonly T[] {
  const weighed = batchAdvantages(
    groups.map(({ group }) => group),
    advantage,
  );
  return groups.map((settled, i) =>
    weighed[i] === settled.group ? settled : { ...settled, group: weighed[i]! },
  );
}

/** The groups with the advantages that a hook set, by group number. */
export function given<T extends SettledGroup>(
  groups: readonly T[],
  advantages: ReadonlyMap<number, readonly number[]>,
): readonly T[] {
  return groups.map((settled) => {
    const mine = advantages.get(settled.request.group);
    if (mine === undefined) return settled;
    const rollouts = settled.group.rollouts.map((member, i) => ({ ...member, advantage: mine[i]! }));
    return { ...settled, advantages: mine, group: { ...settled.group, rollouts } };
  });
}

/**
 * Returns the hook's advantages by group number. Throws HONE_ERR_USAGE unless they are one number per
 * rollout, finite in float32.
 */
function wishesOf(
  kept: readonly SettledGroup[],
  wish: NonNullable<BatchWish>,
): Map<number, readonly number[]> {
  const refuse = (what: string): never => {
    throw new HoneError("HONE_ERR_USAGE", `hooks.onBatch ${what}`, {
      hint: "It returns undefined, or a list with one entry per group: undefined, or a list of one finite number per rollout.",
    });
  };
  if (!Array.isArray(wish) || wish.length !== kept.length)
    return refuse(
      `gave ${Array.isArray(wish) ? `${wish.length} entries` : `a ${typeof wish}`} for ${kept.length} groups`,
    );
  const wishes = new Map<number, readonly number[]>();
  for (const [i, { request, group }] of kept.entries()) {
    const mine = wish[i];
    if (mine === undefined) continue;
    const isWhole = Array.isArray(mine) && mine.length === group.rollouts.length;
    if (!isWhole || !mine.every((advantage) => Number.isFinite(Math.fround(advantage))))
      return refuse(
        `gave the advantages [${mine}] for ${group.rollouts.length} rollouts of ${group.problem.domain} problem ${group.problem.id}`,
      );
    wishes.set(request.group, [...mine]);
  }
  return wishes;
}
