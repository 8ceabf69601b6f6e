import { z } from "zod";
import { datasetSchema } from "../domains/dataset-schema.ts";
import { isForeignUrl } from "../user-module.ts";
import { domainEnvironment } from "./environment.ts";
import { count, MOST_SEQUENCES, positive, tokens } from "./numbers.ts";
import { domainRewards } from "./reward.ts";

/**
 * Name in the table of problem sources ("procedural/math"), the URL or path of a module of the user's, or a data set:
 * "kind:path", or an object where it has options.
 */
export const sourceSchema = z.union([
  z
    .string()
    .min(1)
    .refine((name) => !isForeignUrl(name), 'a module is named by path: "./mine.ts", or file:///...'),
  datasetSchema,
]);

/** Judging mode: strict, or as the reference implementation does, its bugs included (docs/reference/verify.md). */
export const verifierSchema = z.strictObject({ compat: z.enum(["strict", "reference"]) });

/** Problems of one kind on which a policy is evaluated; of a data set all rows, unless `heldOut` selects some. */
const setSchema = z.strictObject({
  source: sourceSchema,
  verifier: verifierSchema.optional(),
  ...domainRewards,
  ...domainEnvironment,
  /** Number of the set's problems that are asked, from the first on; default: `problemsPerDomain`. */
  problems: count(2 ** 24).optional(),
  /**
   * Completions per problem, and the token budget of each. Default: the numbers that the evaluation of domains has.
   */
  attempts: count(MOST_SEQUENCES).optional(),
  maxTokens: tokens().optional(),
});

export const evaluationSchema = z
  .strictObject({
    /** Evaluate after steps divisible by this, beside training, on the weights of that step; 0: before and after training only. */
    everySteps: z.int().min(0).default(0),
    /** First step after which an evaluation may run. */
    fromStep: z.int().min(0).default(0),
    /** Number of held-out problems per domain. 0: no domain is evaluated; without `sets` training then begins at once. */
    problemsPerDomain: z
      .int()
      .min(0)
      .max(2 ** 24)
      .default(96),
    attempts: count(MOST_SEQUENCES).default(1),
    /** Most tokens of an answer, thinking included; default: `rollouts.maxOutputTokens`. */
    maxTokens: tokens().optional(),
    /** Validation sets beside the held-out problems of the domains: evaluated alike, excluded from means, never trained on. */
    sets: z.record(z.string().min(1), setSchema).default({}),
    settings: z
      .array(
        z.strictObject({
          /** 0 is greedy. */
          temperature: z
            .number()
            .min(0)
            .max(1e4)
            .refine((t) => t === 0 || t >= 1e-6, "it must be 0 (greedy) or at least 1e-6"),
          topP: positive(1).default(1),
        }),
      )
      .min(1)
      .default([
        { temperature: 1, topP: 1 },
        { temperature: 0.6, topP: 0.95 },
      ]),
  })
  .prefault({});

/** False for a recipe that evaluates neither held-out problems nor validation sets. */
export const evaluates = ({
  evaluation,
}: {
  readonly evaluation: z.output<typeof evaluationSchema>;
}): boolean => evaluation.problemsPerDomain > 0 || Object.keys(evaluation.sets).length > 0;
