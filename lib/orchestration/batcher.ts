import type { SettledGroup } from "./grouper.ts";
import type { Roster } from "./roster.ts";

/** What one step consumes. */
export interface StepBatch {
  /** By group number. Kept and dropped ones; those released early are among them. */
  readonly groups: readonly SettledGroup[];
  /** Credits to give back after the step. */
  readonly credits: number;
}

export interface BatchRule {
  /** P. */
  readonly groupsPerStep: number;
  readonly countGroups: "completed" | "kept";
  readonly maxLag: number;
  /** Release filtered groups only when nothing else is outstanding, so that draws do not depend on timing. */
  readonly inRounds: boolean;
}

export interface BatcherParts {
  readonly roster: Roster;
  /** Version of the weights the next step starts from. */
  readonly version: () => number;
  /** Counts a group off the line; called once per group, when it is taken or released. */
  readonly settle: (group: SettledGroup) => void;
  /** A filtered group made room for another before the step (only where P counts kept groups). */
  readonly release: (credits: number) => void;
}

/**
 * Collects P groups in order of completion, but first those that would be too old for any later step: it waits
 * for them and takes them, so that no trained token is older than `maxLag` and nothing is dropped for age.
 */
export async function* batchGroups(
  groups: AsyncIterable<SettledGroup>,
  rule: BatchRule,
  parts: BatcherParts,
): AsyncGenerator<StepBatch, void, undefined> {
  const waiting = new Map<number, SettledGroup>();
  const released: SettledGroup[] = [];
  for await (const group of groups) {
    waiting.set(group.ticket.group, group);
    if (rule.countGroups === "kept") releaseFiltered(waiting, released, rule, parts);
    while (isReady(waiting, rule, parts)) {
      const taken = take(waiting, rule, parts);
      for (const one of taken) parts.settle(one);
      const all = [...taken, ...released.splice(0)].sort((a, b) => a.ticket.group - b.ticket.group);
      yield { groups: all, credits: taken.length };
    }
  }
}

function isReady(waiting: ReadonlyMap<number, SettledGroup>, rule: BatchRule, parts: BatcherParts): boolean {
  if (waiting.size < rule.groupsPerStep) return false;
  return parts.roster
    .due(parts.version(), rule.maxLag, rule.groupsPerStep)
    .every((t) => waiting.has(t.group));
}

/** The groups that are due, and then the first that completed, P in all. */
function take(waiting: Map<number, SettledGroup>, rule: BatchRule, parts: BatcherParts): SettledGroup[] {
  const due = parts.roster
    .due(parts.version(), rule.maxLag, rule.groupsPerStep)
    .map((t) => waiting.get(t.group)!);
  const others = [...waiting.values()].filter((group) => !due.includes(group));
  const taken = [...due, ...others.slice(0, Math.max(0, rule.groupsPerStep - due.length))];
  for (const { ticket } of taken) waiting.delete(ticket.group);
  return taken;
}

function releaseFiltered(
  waiting: Map<number, SettledGroup>,
  released: SettledGroup[],
  rule: BatchRule,
  parts: BatcherParts,
): void {
  if (rule.inRounds && waiting.size < parts.roster.size) return;
  const filtered = [...waiting.values()].filter(({ group }) => group.dropped !== undefined);
  for (const group of filtered) {
    waiting.delete(group.ticket.group);
    parts.settle(group);
    released.push(group);
  }
  if (filtered.length > 0) parts.release(filtered.length);
}
