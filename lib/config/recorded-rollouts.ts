import { z } from "zod";

const LAST = /^last:([1-9]\d{0,8})$/;

/** `rollouts.record`: of which steps the run folder keeps what they trained on. */
export const recordSchema = z.union([
  z.boolean(),
  z.string().regex(LAST, 'must be true, false or, for the last 20 steps, "last:20"'),
]);

/** Number of the last steps whose rollouts `rollouts.record` keeps: all of them Infinity, none 0. */
export function recordedLast(record: boolean | string): number {
  if (typeof record === "boolean") return record ? Number.POSITIVE_INFINITY : 0;
  return Number(LAST.exec(record)?.[1] ?? 0);
}
