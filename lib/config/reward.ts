import { z } from "zod";
import type { RewardFunction } from "../domains/index.ts";
import { exportNameFault, isModulePlace } from "../user-module.ts";
import { judgeSchema } from "./judge.ts";
import { count, LONGEST_TIMER_MS, positive } from "./numbers.ts";
import { checkFile, inPython } from "./python.ts";

/** A zod refinement: the name after # in a module's place must be readable. */
export const checkExportName = (place: string, check: z.RefinementCtx): void => {
  const fault = exportNameFault(place);
  if (fault !== undefined) check.addIssue({ code: "custom", message: fault });
};

/** Path and name of a user's verifier. */
export const modulePlace = z
  .string()
  .refine(isModulePlace, 'it must be a module by path: "./mine.ts", or file:///...');

/** Limits: wall time of one call in milliseconds, and number of concurrent calls. */
const limits = {
  timeoutMs: z.number().min(1).max(LONGEST_TIMER_MS).optional(),
  concurrency: count(4096).optional(),
};

/** A function of the entry script as recorded in run.json: its name and a hash of its source. */
const functionSchema = z.strictObject({
  function: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, "it must be a hash of the function's source"),
  /** A reward function; it exists in the main process only and is called there. */
  process: z.literal("main"),
  ...limits,
});

/**
 * "verifier" means the verifier that the problem names. Otherwise a module, by file URL or by a path from the working
 * folder, that exports a reward function or a verifier: by default, or as "module.ts#name".
 */
const moduleSchema = z
  .string()
  .superRefine((name, check) => {
    if (isPythonFile(name))
      check.addIssue({
        code: "custom",
        message: `a reward in a Python file is written as ${inBraces(name)}`,
      });
    else if (name !== "verifier" && !isModulePlace(name))
      check.addIssue({
        code: "custom",
        message:
          'it must be a function, "verifier", or a module by path or file URL: "./mine.ts", "./mine.ts#name"',
      });
  })
  .superRefine(checkExportName);

const isPythonFile = (place: string): boolean => /\.py(?:#[^#]*)?$/.test(place);
const inBraces = (place: string): string => `{ python: ${JSON.stringify(place)} }`;

/** A function of a Python file: "rewards.py#accuracy". The hash of the file is written beside it when the recipe is defined. */
const pythonSchema = z
  .strictObject({
    ...inPython,
    /** Form of TRL's `completions`. Default: a conversation if and only if the row's prompt is one. */
    completions: z.enum(["text", "messages"]).optional(),
  })
  .superRefine(checkFile);

const choiceSchema = z.union([
  moduleSchema,
  functionSchema,
  z.strictObject({ judge: judgeSchema }),
  pythonSchema,
]);

/** Forms in which a recipe may give what run.json records as a function name. */
type Written =
  | z.input<typeof choiceSchema>
  | RewardFunction
  | { readonly function: RewardFunction; readonly timeoutMs?: number; readonly concurrency?: number };

export type RewardChoice = z.output<typeof choiceSchema>;

const rewardChoice = choiceSchema as unknown as z.ZodType<RewardChoice, Written>;

/** Largest magnitude of a reward: the trainer takes advantages in f32. */
const MOST_REWARD = 1e9;
const rewardNumber = z.number().min(-MOST_REWARD).max(MOST_REWARD);

/** Scale of a reward's numbers (RewardScale). */
const scale = {
  /** Lowest and highest number that the reward returns; they become the scores 0 and 1. */
  range: z
    .tuple([rewardNumber, rewardNumber])
    .refine(([low, high]) => low < high, "it is [lowest, highest], and the first must be below the second")
    .optional(),
  /** Rewards of at least this number count as solved. Default: the top of `range`, or 1. */
  solvedAt: rewardNumber.optional(),
};

interface ScaledReward {
  readonly reward?: RewardChoice | undefined;
  readonly range?: readonly [number, number] | undefined;
  readonly solvedAt?: number | undefined;
}

interface JudgedBy extends ScaledReward {
  readonly rewards?: Readonly<Record<string, ScaledReward>> | undefined;
}

/** Returns the fault of the rewards of domains or validation sets by name; undefined if there is none. */
export function rewardsFault(judged: Readonly<Record<string, JudgedBy>>): string | undefined {
  for (const [name, { rewards, ...one }] of Object.entries(judged)) {
    if (one.reward !== undefined && rewards !== undefined)
      return `gives ${name} both reward and rewards; name one judge, or several with weights`;
    const parts = Object.entries(rewards ?? {}).map(
      ([part, own]) => [`${name}.rewards.${part}`, own] as const,
    );
    for (const [place, own] of [[name, one] as const, ...parts]) {
      const fault = scaleFault(own);
      if (fault !== undefined) return `${place} ${fault}`;
    }
  }
  return undefined;
}

function scaleFault({ reward, range, solvedAt }: ScaledReward): string | undefined {
  if (range === undefined && solvedAt === undefined) return undefined;
  if (reward === undefined || reward === "verifier")
    return "has range or solvedAt, which apply to numbers that a reward returns: a function, a module or a judge";
  if (range === undefined || solvedAt === undefined) return undefined;
  const [low, high] = range;
  if (solvedAt > low && solvedAt <= high) return undefined;
  return `has solvedAt ${solvedAt}, which is not above ${low} and at most ${high}, its range`;
}

interface JudgedRows {
  readonly reward?: RewardChoice | undefined;
  readonly rewards?: Readonly<Record<string, { readonly reward: RewardChoice }>> | undefined;
  readonly environment?: unknown;
}

/** True if a function of a Python file judges: such functions receive the columns of the row. */
export function readsColumns({ reward, rewards = {} }: JudgedRows): boolean {
  const choices = [reward, ...Object.values(rewards).map((one) => one.reward)];
  return choices.some((choice) => typeof choice === "object" && "python" in choice);
}

/**
 * True if judging a domain or validation set reads the row's answer: a verifier does, and so does an LLM judge that
 * compares with it; custom rewards and environments may not need it.
 */
export function readsReference({ reward, rewards, environment }: JudgedRows): boolean {
  if (environment !== undefined) return false;
  const choices =
    rewards === undefined ? [reward ?? "verifier"] : Object.values(rewards).map((one) => one.reward);
  return choices.some((choice) => {
    if (typeof choice === "string") return choice === "verifier";
    return "judge" in choice && (choice.judge.kind === "pairwise" || choice.judge.against !== undefined);
  });
}

/** Schema fields that say what judges a domain or validation set, instead of the problem's own verifier. */
export const domainRewards = {
  /** A single reward. */
  reward: rewardChoice.optional(),
  ...scale,
  /** Several rewards with weights on any scale: the score is the weighted mean. */
  rewards: z
    .record(
      z.string().regex(/^[\w.-]{1,64}$/, "a reward's name is of letters, digits, _ . and -"),
      z.strictObject({ weight: positive(), reward: rewardChoice, ...scale }),
    )
    .refine((parts) => Object.keys(parts).length > 0, "it is empty; name at least one reward")
    .optional(),
};
