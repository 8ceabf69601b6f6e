import type { RewardFunction } from "../../domains/reward.ts";
import type { RewardScale } from "../../domains/reward-scale.ts";
import { HoneError } from "../../errors.ts";
import type { Verdict } from "../../records.ts";
import { Judge, type JudgeOptions } from "../judge/judge.ts";
import type { PythonCall } from "../python/python-call.ts";
import { FunctionVerifier } from "./function-verifier.ts";
import { PooledVerifier, type PooledVerifierOptions, type Workers } from "./pooled-verifier.ts";
import { type Judges, ownVerifier, RewardSum, type WeightedJudge } from "./reward-sum.ts";
import type { VerifierMeter } from "./verifier-stats.ts";

/** The source of one reward: a verifier, a function or a judge. */
export type RewardGiver =
  /** The verifier that the problem itself names. */
  | { readonly by: "verifier" }
  /** A module in the processes of the pool: a URL, with the name of its export after #. */
  | { readonly by: "module"; readonly url: string }
  /** A function in a Python file, in Python processes started by processes of the pool. */
  | { readonly by: "python"; readonly python: PythonGiver }
  /** A function in this process; `reward` is absent where its entry script is not running. */
  | {
      readonly by: "function";
      readonly name: string;
      readonly reward?: RewardFunction | undefined;
      readonly timeoutMs?: number | undefined;
      readonly concurrency?: number | undefined;
    }
  /** A language model behind a server. */
  | { readonly by: "judge"; readonly judge: JudgeOptions };

/** A function in a Python file, and the limits of its processes. */
export interface PythonGiver {
  readonly call: PythonCall;
  /** Time limit for one call in milliseconds. */
  readonly timeoutMs: number;
  /** Environment variables passed to the processes in addition to those that every program needs. */
  readonly variables: readonly string[];
}

export interface RewardPart {
  /** Name in counts and metrics. */
  readonly verifier: string;
  /** Name among several rewards. */
  readonly name: string;
  readonly weight: number;
  readonly giver: RewardGiver;
  readonly scale?: RewardScale | undefined;
}

/** Rewards of the problems that name this verifier: one, or the weighted mean of several. */
export interface RewardPlan {
  readonly verifier: string;
  readonly parts: readonly [RewardPart, ...RewardPart[]];
  /** True for a sum that reports its parts; false for a single part's verdict. */
  readonly isSum: boolean;
}

/** Dependencies of the rewards of a pool. */
export interface RewardPlace {
  readonly workers: Workers;
  readonly defaults: PooledVerifierOptions["defaults"];
  readonly closing: AbortSignal;
  /** Judges by the pool's own verifiers. */
  readonly verify: Judges["judge"];
}

/** A judge with its counts; a judge composed of several rewards has no counts. */
export interface CountedJudge extends Judges {
  readonly meter?: VerifierMeter;
  /** Time limit per completion in milliseconds, if known. */
  readonly timeoutMs?: number;
  /** The language model that judges. */
  readonly model?: Judge;
}

const CALLS_AT_ONCE = 16;

/**
 * The judges of a plan by name: verifiers that problems name, and each reward of the recipe, with counts of its own.
 */
export function openReward(
  { verifier, parts, isSum }: RewardPlan,
  place: RewardPlace,
): (readonly [string, CountedJudge])[] {
  const judges = parts.map((part) => [part, openGiver(part, place)] as const);
  if (!isSum) return [[verifier, judges[0]![1]]];
  const weighted = judges.map(([{ name, weight }, judge]): WeightedJudge => {
    return { name, weight, judge: (requests) => judge.judge(requests) };
  });
  return [
    [verifier, new RewardSum(weighted)],
    ...judges.map(([part, judge]) => [part.verifier, judge] as const),
  ];
}

function openGiver({ verifier, giver, scale }: RewardPart, place: RewardPlace): CountedJudge {
  if (giver.by === "verifier") return ownVerifier(place.verify);
  const { workers, defaults, closing } = place;
  if (giver.by === "module") {
    const options = { name: verifier, moduleUrl: giver.url, isReward: true, scale, defaults };
    return new PooledVerifier(options, workers);
  }
  if (giver.by === "python") return openPython(verifier, giver.python, scale, place);
  if (giver.by === "judge") return openJudge(giver.judge, scale, closing);
  const { name, reward, timeoutMs = defaults.timeoutMs, concurrency = CALLS_AT_ONCE } = giver;
  if (reward === undefined) return absent(name, verifier);
  const calls = new FunctionVerifier({ reward, scale, timeoutMs, concurrency, closing });
  return { meter: calls.meter, timeoutMs, judge: (requests) => calls.judge(requests) };
}

/** Importing torch, and the packages that `uv run` installs first, takes minutes on a cold machine. */
const PYTHON_LOAD_MS = 300_000;

function openPython(
  name: string,
  { call, timeoutMs, variables }: PythonGiver,
  scale: RewardScale | undefined,
  { workers, defaults }: RewardPlace,
): CountedJudge {
  const overrides = { timeoutMs, concurrency: call.processes };
  const limits = { defaults, overrides, loadTimeoutMs: PYTHON_LOAD_MS, variables };
  return new PooledVerifier({ name, python: call, scale, ...limits }, workers);
}

/** Opens a judge. Each of its requests has a time limit; a batch as a whole has none. */
function openJudge(
  options: JudgeOptions,
  scale: RewardScale | undefined,
  closing: AbortSignal,
): CountedJudge {
  const model = new Judge(options);
  closing.addEventListener("abort", () => model[Symbol.dispose](), { once: true });
  const reward: RewardFunction = (input) => model.judge(input);
  const { concurrency } = options;
  const calls = new FunctionVerifier({ reward, scale, timeoutMs: LONGEST_TIMER_MS, concurrency, closing });
  const { timeoutMs } = options;
  return {
    meter: calls.meter,
    timeoutMs,
    model,
    judge: async (requests) => inOutage(await calls.judge(requests)),
  };
}

/**
 * If every request of a batch failed, completions that needed no request are unscored too: otherwise a group
 * would be trained on its truncated and empty answers alone.
 */
function inOutage(verdicts: Verdict[]): Verdict[] {
  const failed = verdicts.find((verdict) => verdict.status === "unscored");
  const isUnasked = ({ status }: Verdict) => status === "no_answer" || status === "unparsable";
  if (failed === undefined || !verdicts.every((one) => one.status === "unscored" || isUnasked(one)))
    return verdicts;
  return verdicts.map((one) => (one.status === "unscored" ? one : failed));
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The error for a function whose entry script did not create this pool. */
const absent = (name: string, verifier: string): Judges => ({
  judge: () =>
    Promise.reject(
      new HoneError(
        "HONE_ERR_CONFIG",
        `${verifier} is the function ${name}, which is not available in this process`,
        {
          hint: "A function exists only in its entry script: pass that (--recipe <file>), or move the function to a module.",
        },
      ),
    ),
});
