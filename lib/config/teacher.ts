import { z } from "zod";
import { serverSchema } from "./judge.ts";
import { count, fraction, MOST_SEQUENCES, orOff, positive } from "./numbers.ts";
import { hasFullKl } from "./objective.ts";

/** A server whose model scores given token ids: POST <url>/completions. */
const endpointSchema = z.strictObject({
  ...serverSchema,
  /** About half an hour of retries; then the run ends and can resume from its checkpoint. */
  retries: serverSchema.retries.unwrap().default(30),
  /** How prompt log-probs are requested: vLLM's field, or `echo` with `logprobs`, as in SGLang. */
  api: z.enum(["prompt_logprobs", "echo"]).default("prompt_logprobs"),
  /** A model folder, or a name on the Hub, with the server's tokenizer.json, which is compared with the model's, id by id. */
  tokenizer: z.string().min(1).optional(),
});

/**
 * On-policy distillation (docs/how-to/distillation.md): a frozen model scores the tokens that the policy sampled.
 * Without `divergence`, advantages are per token: rewardCoef * (the reward's) + coef * (log p_teacher - log
 * p_sampler, less its group's mean). With `divergence`, the loss has the term coef * mean over tokens of the
 * divergence from the teacher.
 */
export const teacherSchema = z
  .strictObject({
    /** The teacher's Hugging Face folder, or its name on the Hub; its tokenizer must be the model's. */
    folder: z.string().min(1).optional(),
    /** A server that hosts the teacher, instead of `folder`. */
    endpoint: endpointSchema.optional(),
    coef: positive().default(1),
    /** Factor of the reward's advantage; 0: the teacher alone is learnt from, and rewards are only measured. */
    rewardCoef: orOff().default(0),
    /** Generalised Jensen-Shannon divergence of whole distributions: beta 0 is KL(teacher || policy), 1 KL(policy || teacher). */
    divergence: z
      .strictObject({
        beta: fraction().default(0.5),
        /**
         * Number of the teacher's likeliest tokens, over which both distributions are renormalised. Default: the
         * whole vocabulary.
         */
        topK: count(MOST_SEQUENCES).min(2).optional(),
      })
      .optional(),
  })
  .optional();

interface Asked {
  readonly teacher?: z.output<typeof teacherSchema>;
  readonly objective: { readonly kind: string };
  readonly rollouts: { readonly temperature: number };
}

/** Reason why a recipe's objective cannot learn from a teacher; undefined if it can, or there is none. */
export function whyNotTaught({ teacher, objective: { kind } }: Asked): string | undefined {
  return teacher !== undefined && teacher.divergence === undefined && (kind === "gspo" || kind === "gmpo")
    ? `is "${kind}", which has one advantage a sequence; a teacher gives one a token: say { kind: "dapo", clipLow: 0.2, clipHigh: 0.28 }, "gspo-token", or another kind, or give teacher.divergence`
    : undefined;
}

/** Reason why the fields do not define exactly one teacher; undefined if they do, or there is none. */
export function whyNotOne({ teacher }: Asked): string | undefined {
  if (teacher === undefined) return undefined;
  if (teacher.folder === undefined && teacher.endpoint === undefined)
    return "names no teacher: give folder, or endpoint: { url, model }";
  return teacher.folder !== undefined && teacher.endpoint !== undefined
    ? "has folder and endpoint; a recipe has one teacher"
    : undefined;
}

/** Reason why a server cannot provide what the recipe requires. */
export function whyNotServed({ teacher, rollouts: { temperature } }: Asked): string | undefined {
  const { endpoint, divergence } = teacher ?? {};
  if (endpoint === undefined) return undefined;
  if (temperature !== 1)
    return `gives log-probs at temperature 1, but rollouts.temperature is ${temperature}; set 1, or use teacher.folder`;
  if (divergence === undefined) return undefined;
  if (divergence.topK === undefined)
    return "gives no log-probs of the whole vocabulary; set teacher.divergence.topK (vLLM: 20 at most, unless it was started with --max-logprobs), or take teacher.folder";
  return endpoint.api === "echo"
    ? 'has the api "echo", which lists likeliest tokens by their text and not by id; say api: "prompt_logprobs", leave out teacher.divergence, or take teacher.folder'
    : undefined;
}

type Compared = Pick<Asked, "teacher"> & { readonly objective: Parameters<typeof hasFullKl>[0] };

/** Reason why a KL term cannot compare whole distributions with those of the reference. */
export function whyNotFull({ teacher, objective }: Compared): string | undefined {
  return hasFullKl(objective) && teacher?.divergence !== undefined
    ? 'is "full", but teacher.divergence is set too: a step compares its distributions with one other; say "k2" or "k3"'
    : undefined;
}
