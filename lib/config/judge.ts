import { z } from "zod";
import { count, LONGEST_TIMER_MS, tokens } from "./numbers.ts";

/** True for a URL without credentials, since run.json records the URL. */
function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "" && search === "";
}

/** A model behind an OpenAI-compatible server. */
export const serverSchema = {
  /** Base URL, without /chat/completions or /completions: "http://localhost:8000/v1". */
  url: z
    .string()
    .refine(
      isPublicUrl,
      "it must be an http or https address without credentials (apiKeyEnv names the variable with the key)",
    ),
  model: z.string().min(1),
  /** Name of the environment variable that holds the API key; the key itself is written to no file. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, "it must be the name of an environment variable, not a key")
    .optional(),
  /** Maximum number of concurrent requests and connections. */
  concurrency: count(4096).default(8),
  timeoutMs: z.number().min(1).max(LONGEST_TIMER_MS).default(60_000),
  /** Retries of a request, with back-off from backoffMs, a minute at most. */
  retries: z.int().min(0).max(1000).default(4),
  backoffMs: z.number().min(1).max(60_000).default(500),
};

/** A language model that judges: docs/how-to/rewards.md. */
export const judgeSchema = z.strictObject({
  ...serverSchema,
  /** What the judge is asked for. "rubric": a grade; "pairwise": whether the answer is better than the reference. */
  kind: z.enum(["rubric", "pairwise"]).default("rubric"),
  /** Criteria of a good answer. */
  rubric: z
    .string()
    .min(1)
    .max(100_000)
    .default("The answer solves the task: it is correct, complete and clear."),
  /** Grades are whole numbers from 0 to this. */
  scale: count(100).default(10),
  /** Dotted path of the field of the reference that the judge is shown, or compares with; default: the whole reference. */
  against: z.string().min(1).optional(),
  /** How often each answer is judged; two judgements measure the judge's agreement with itself and use both orders of a pair. */
  samplings: count(16).default(2),
  temperature: z.number().min(0).max(2).default(0.7),
  /** Maximum tokens of a reply of the judge, its thinking included. */
  maxTokens: tokens().default(1024),
  /** Longer answers are unparsable. */
  maxAnswerChars: count().default(20_000),
  /** Maximum calls and tokens of one process; once spent, answers are unscored. */
  budget: z
    .strictObject({ calls: count().optional(), tokens: count(Number.MAX_SAFE_INTEGER).optional() })
    .prefault({}),
  /** Folder that caches replies by content; false disables the cache. */
  cache: z.union([z.string().min(1), z.literal(false)]).default("runs/judge-cache"),
});
