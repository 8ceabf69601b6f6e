import { type Stretch, StretchSum } from "../metrics/index.ts";

/**
 * Reduces `count` steps to what a chart can show: at most `limit` means, each over the same number of consecutive
 * steps, or a few more. Steps are read one at a time and not kept. If there are no more steps than `limit`, returns
 * the steps unchanged.
 */
export function runningMeans(stretches: Iterable<Stretch>, count: number, limit: number): Stretch[] {
  const every = Math.ceil(count / limit);
  if (every <= 1) return [...stretches];
  const means: Stretch[] = [];
  let sum = new StretchSum();
  for (const stretch of stretches) {
    sum.add(stretch);
    if (sum.steps < every) continue;
    means.push(sum.stretch);
    sum = new StretchSum();
  }
  if (sum.steps > 0) means.push(sum.stretch);
  return means;
}
