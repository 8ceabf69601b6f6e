import { z } from "zod";

const LAST = /^last:([1-9]\d{0,8})$/;

/** `rollouts.record`: the steps whose training data the run folder keeps. */
export const recordSchema = z.union([
  z.boolean(),
  z.string().regex(LAST, 'must be true, false or, for the last 20 steps, "last:20"'),
]);

/** Number of the most recent steps whose rollouts `rollouts.record` keeps: Infinity for all, 0 for none. */
export function recordedLast(record: boolean | string): number {
  if (typeof record === "boolean") return record ? Number.POSITIVE_INFINITY : 0;
  return Number(LAST.exec(record)?.[1] ?? 0);
}
