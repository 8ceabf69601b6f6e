import { z } from "zod";
import { count } from "./numbers.ts";
import { recordedLast } from "./recorded-rollouts.ts";

/** `training.replayBuffer`: groups that were trained are trained again. */
export const replayBufferSchema = z
  .strictObject({
    /** Largest share of a step's groups that may come from the buffer; it never displaces fresh groups. */
    share: z.number().gt(0).max(0.9),
    /** Steps after a group was first trained during which it may be drawn again. */
    maxAge: count(2 ** 16),
  })
  .optional();

interface Buffered {
  readonly training: { readonly replayBuffer?: z.output<typeof replayBufferSchema> };
  readonly rollouts: { readonly record: boolean | string };
  readonly checkpoint: { readonly everySteps: number };
}

/**
 * Reason why a killed run could not restore its buffer from the recorded rollouts. It needs those of the steps before
 * the newest checkpoint, which may be two intervals old while the next one is being written.
 */
export function whyNotBuffered({ training, rollouts, checkpoint }: Buffered): string | undefined {
  const { replayBuffer } = training;
  if (replayBuffer === undefined) return undefined;
  const needed = replayBuffer.maxAge + 2 * checkpoint.everySteps;
  return recordedLast(rollouts.record) < needed
    ? `needs the record of ${needed} steps (maxAge, and two intervals of checkpoint.everySteps), so that a killed run can restore it; rollouts.record is ${JSON.stringify(rollouts.record)}, set "last:${needed}" or true`
    : undefined;
}
