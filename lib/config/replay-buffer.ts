import { z } from "zod";
import { count } from "./numbers.ts";
import { recordedLast } from "./recorded-rollouts.ts";

/** `training.replayBuffer`: groups that were trained are trained again. */
export const replayBufferSchema = z
  .strictObject({
    /** Of the groups that a step trains on, as many as may come from the buffer; fresh ones never make room for them. */
    share: z.number().gt(0).max(0.9),
    /** Steps after the one that trained it first in which a group may be drawn. */
    maxAge: count(2 ** 16),
  })
  .optional();

interface Buffered {
  readonly training: { readonly replayBuffer?: z.output<typeof replayBufferSchema> };
  readonly rollouts: { readonly record: boolean | string };
  readonly checkpoint: { readonly everySteps: number };
}

/**
 * Why a killed run could not take up its buffer, which it reads in the record of rollouts: of the steps before the newest
 * checkpoint, and that may be two intervals old while the next one is written.
 */
export function whyNotBuffered({ training, rollouts, checkpoint }: Buffered): string | undefined {
  const { replayBuffer } = training;
  if (replayBuffer === undefined) return undefined;
  const needed = replayBuffer.maxAge + 2 * checkpoint.everySteps;
  return recordedLast(rollouts.record) < needed
    ? `needs the record of ${needed} steps (maxAge, and two intervals of checkpoint.everySteps), from which a run that was killed fills it again; rollouts.record is ${JSON.stringify(rollouts.record)}, say "last:${needed}" or true`
    : undefined;
}
