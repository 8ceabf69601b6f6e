import type { Recipe } from "../../config/index.ts";
import type { GroupAccounting } from "./group-accounting.ts";
import type { ReplayedGroup, SettledGroup } from "./grouper.ts";

/** Groups that one step consumes. */
export interface StepBatch {
  /** Kept and dropped groups by number, including those released early. */
  readonly groups: readonly SettledGroup[];
  /** Replayed groups by number; absent without a buffer (ReplayBuffer). */
  readonly replayed?: readonly ReplayedGroup[];
  /** Credits to give back after the step. */
  readonly credits: number;
}

/** Batching rule of the recipe: P, which groups count towards it, and how old a group may get. */
export type BatchRule = Pick<Recipe["training"], "groupsPerStep" | "countGroups" | "maxLag" | "schedule">;

/**
 * The part of the accounting that the batcher notifies of every taken or released group and asks for due
 * groups.
 */
export type BatcherAccounting = Pick<
  GroupAccounting,
  "outstanding" | "due" | "firstDue" | "settled" | "batched"
> & {
  readonly credits: Pick<GroupAccounting["credits"], "give">;
};

/**
 * Collects P groups in order of completion, but first those that would be too old for any later step: waits for them
 * and takes them, so that no trained token is older than `maxLag` and no group is dropped for its age.
 */
export async function* batchGroups(
  groups: AsyncIterable<SettledGroup>,
  rule: BatchRule,
  accounting: BatcherAccounting,
): AsyncGenerator<StepBatch, void, undefined> {
  const waiting = new Map<number, SettledGroup>();
  const released: SettledGroup[] = [];
  /** A group that the next step must take and that had not arrived at the last check. It stays due until a group leaves the accounting. */
  let missing: number | undefined;
  const isReady = () => {
    if (waiting.size < rule.groupsPerStep || (missing !== undefined && !waiting.has(missing))) return false;
    missing = accounting.firstDue(rule.maxLag, rule.groupsPerStep, waiting);
    return missing === undefined;
  };
  for await (const group of groups) {
    waiting.set(group.request.group, group);
    if (rule.countGroups === "kept") {
      const filtered = releaseFiltered(group, waiting, rule, accounting);
      if (filtered.length > 0) missing = undefined;
      for (const one of filtered) released.push(one);
    }
    while (isReady()) {
      const taken = take(waiting, rule, accounting);
      for (const one of taken) accounting.settled(one);
      const all = [...taken, ...released.splice(0)].sort((a, b) => a.request.group - b.request.group);
      accounting.batched();
      yield { groups: all, credits: taken.length };
    }
  }
}

/** Returns P groups: first the groups that are due, then other groups in order of completion. */
function take(
  waiting: Map<number, SettledGroup>,
  rule: BatchRule,
  accounting: BatcherAccounting,
): SettledGroup[] {
  const taken: SettledGroup[] = [];
  const takeOne = (group: SettledGroup) => {
    taken.push(group);
    waiting.delete(group.request.group);
  };
  for (const { group } of accounting.due(rule.maxLag, rule.groupsPerStep)) takeOne(waiting.get(group)!);
  for (const group of waiting.values()) {
    if (taken.length >= rule.groupsPerStep) break;
    takeOne(group);
  }
  return taken;
}

/** Removes the filtered groups; each frees a credit for another group before the step. @param last the group that arrived last */
function releaseFiltered(
  last: SettledGroup,
  waiting: Map<number, SettledGroup>,
  rule: BatchRule,
  accounting: BatcherAccounting,
): readonly SettledGroup[] {
  // In the synchronous schedule draws must not depend on arrival times: a group is released once nothing else is
  // outstanding.
  if (rule.schedule === "sync" && waiting.size < accounting.outstanding) return NONE;
  const looked = rule.schedule === "sync" ? [...waiting.values()] : [last];
  const filtered = looked.filter(({ group }) => group.dropped !== undefined);
  for (const group of filtered) {
    waiting.delete(group.request.group);
    accounting.settled(group);
  }
  if (filtered.length > 0) accounting.credits.give(filtered.length);
  return filtered;
}

const NONE: readonly SettledGroup[] = [];
