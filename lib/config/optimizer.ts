import { z } from "zod";
import { count, decay, fraction, MOST_SEQUENCES, orOff, positive } from "./numbers.ts";

export const optimizerSchema = z
  .strictObject({
    /** Default: the entry of LEARNING_RATES for what is trained. */
    lr: positive().optional(),
    beta1: decay().default(0.9),
    beta2: decay().default(0.95),
    eps: positive().default(1e-8),
    weightDecay: orOff().default(0),
    /** Type of AdamW's m and v. bf16 halves their memory; they are then rounded stochastically, so that their means stay exact. */
    moments: z.enum(["f32", "bf16"]).default("f32"),
    /** Largest global norm of the gradient; 0: no clipping. */
    gradientClip: orOff().default(0.3),
    /** Steps of linear warm-up from lr / warmupSteps; default: a tenth of the steps, 50 at most. */
    warmupSteps: z.int().min(0).optional(),
    schedule: z.enum(["constant", "cosine", "linear"]).default("constant"),
    /** End of the cosine and of the linear schedule, as a fraction of lr. */
    finalFraction: fraction().default(0.1),
  })
  .prefault({});

export const warmStartSchema = z.strictObject({
  steps: z
    .int()
    .min(0)
    .max(2 ** 24),
  batchSize: count(MOST_SEQUENCES).default(64),
  /** Share of demonstrations per domain, any scale. */
  mixture: z.record(z.string(), positive()),
  /** Shares of demonstrations that are wrong, and that never end. */
  wrongRate: fraction().default(0.15),
  endlessRate: fraction().default(0.08),
  /** AdamW for embedding and norms, Muon for the matrices ("adamw": AdamW for all). */
  optimizer: z.enum(["muon", "adamw"]).default("muon"),
  lr: positive().default(8e-3),
  muonLr: positive().default(0.02),
  muonMomentum: decay().default(0.95),
  beta1: decay().default(0.9),
  beta2: decay().default(0.98),
  weightDecay: orOff().default(0.05),
  gradientClip: orOff().default(1),
  warmupSteps: z.int().min(0).optional(), // default: derived from the number of warm-start steps
  /** Cosine down to this fraction of the rates. */
  finalFraction: fraction().default(0.1),
});

/**
 * Learning rates with a visible effect within 40 steps, by the initial weights and what is trained
 * (docs/reference/recipe.md, "Learning rate").
 */
const LEARNING_RATES = {
  published: { weights: 5e-6, adapters: 5e-5 },
  new: { weights: 2.5e-4, adapters: 2.5e-3 },
} as const;

/** The default learning rate of a recipe. */
export function defaultRate({
  model,
  lora,
}: {
  readonly model: { readonly folder?: string | undefined };
  readonly lora?: object | undefined;
}): number {
  return LEARNING_RATES[model.folder === undefined ? "new" : "published"][
    lora === undefined ? "weights" : "adapters"
  ];
}

const LONGEST_WARM_UP = 50;

/** A schedule of a learning rate with the length of its warm-up. */
export type Warmed<T> = Omit<T, "warmupSteps"> & { readonly warmupSteps: number };

/**
 * Fills in the warm-up length for a short run: at most the time that the run can spend below the full learning rate.
 * @param steps of the run, or of the warm start
 */
export function warmed<T extends { readonly warmupSteps?: number | undefined }>(
  schedule: T,
  steps: number,
): Warmed<T> {
  const { warmupSteps = Math.min(LONGEST_WARM_UP, Math.floor(steps / 10)) } = schedule;
  return { ...schedule, warmupSteps };
}
