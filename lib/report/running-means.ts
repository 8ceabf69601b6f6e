import { type Stretch, StretchSum } from "../metrics/index.ts";

/**
 * At most `limit` stretches for `count` steps, each the mean over equally many in a row, or a few more: what a chart
 * can show. They are read one at a time and not kept. If there are no more steps than `limit`, the steps themselves.
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
