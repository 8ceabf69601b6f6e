import { z } from "zod";

const counts = z.record(z.string(), z.int());

/** Draws of a curriculum, and [identity, draws, attempts, solve rate, step of the last group] of each problem drawn. */
const choicesSchema = z.object({
  draws: z.int(),
  problems: z
    .array(z.tuple([z.string(), z.int(), z.int(), z.number().nullable(), z.int().nullable()]).readonly())
    .readonly(),
});

/** State of the pipeline in a checkpoint: enough to continue with the same problems, picks and counts. */
export const pipelineStateSchema = z.object({
  /** Steps done. */
  step: z.int().min(0),
  /** `leftOut` is absent in checkpoints written before version 0.2. */
  draws: z.object({
    nextGroup: z.int(),
    cursors: counts,
    leftOut: counts.optional(),
    /** States of the curricula, for domains that have one. */
    choices: z.record(z.string(), choicesSchema).optional(),
  }),
  sampler: z.object({ completed: counts, picks: z.int() }),
  ledger: z.record(
    z.string(),
    z.object({
      submitted: z.int(),
      completed: z.int(),
      failed: z.int(),
      retained: z.int(),
      trained: z.int(),
      trainedTokens: z.int(),
      replayed: z.int().optional(),
      dropped: z.record(z.string(), z.int()),
    }),
  ),
  /** Groups in the pipeline: the resumed run submits them again, under the same numbers. */
  outstanding: z.array(z.strictObject({ group: z.int(), domain: z.string(), index: z.int() })),
  generatedTokens: z.int(),
  /** State of `objective.entropyControl`. */
  entropy: z.object({ coef: z.number(), entropy: z.number().nullable() }).optional(),
});
export type PipelineState = z.infer<typeof pipelineStateSchema>;
