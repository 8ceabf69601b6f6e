import { z } from "zod";
import { orOff, positive } from "./numbers.ts";

/**
 * On-policy distillation (docs/how-to/distillation.md): a frozen model scores the tokens that the policy sampled, and
 * advantages are per token: rewardCoef * (the reward's) + coef * (log p_teacher - log p_sampler, less its group's mean).
 */
export const teacherSchema = z
  .strictObject({
    /** The teacher's Hugging Face folder, or its name on the Hub; its tokenizer must be the model's. */
    folder: z.string().min(1),
    coef: positive().default(1),
    /** Factor of the reward's advantage; 0: the teacher alone is learnt from, and rewards are only measured. */
    rewardCoef: orOff().default(0),
  })
  .optional();

interface Asked {
  readonly teacher?: unknown;
  readonly objective: { readonly kind: string };
}

/** Why a recipe's objective cannot learn from a teacher; undefined where it can, or there is none. */
export function whyNotTaught({ teacher, objective: { kind } }: Asked): string | undefined {
  return teacher !== undefined && (kind === "gspo" || kind === "gmpo")
    ? `is "${kind}", which has one advantage a sequence; a teacher gives one a token: say { kind: "dapo", clipLow: 0.2, clipHigh: 0.28 }, "gspo-token", or another kind`
    : undefined;
}
