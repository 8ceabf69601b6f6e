import type { SettledGroup } from "../pipeline/index.ts";

const FIRST_WARNING_STEPS = 4;

/**
 * A listener for settled groups that warns when nothing reaches the trainer: once four steps' worth of groups in a
 * row were dropped, and again each time that number has doubled. Such a run looks busy, but if a step counts kept
 * groups, it may never end.
 */
export function droppedGroupsWarning(
  groupsPerStep: number,
  warn: (message: string) => void,
): (settled: Pick<SettledGroup, "group">) => void {
  const reasons = new Map<string, number>();
  let inARow = 0;
  let next = FIRST_WARNING_STEPS * groupsPerStep;
  return ({ group: { dropped } }) => {
    if (dropped === undefined) {
      reasons.clear();
      inARow = 0;
      next = FIRST_WARNING_STEPS * groupsPerStep;
      return;
    }
    inARow += 1;
    reasons.set(dropped, (reasons.get(dropped) ?? 0) + 1);
    if (inARow < next) return;
    next *= 2;
    const why = [...reasons].map(([reason, groups]) => `${reason} ${groups}`).join(", ");
    warn(`nothing to train on: the last ${inARow} groups in a row were dropped (${why})`);
  };
}
