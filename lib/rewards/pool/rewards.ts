import type { RewardFunction } from "../../domains/reward.ts";
import { HoneError } from "../../errors.ts";
import { FunctionVerifier } from "./function-verifier.ts";
import { PooledVerifier, type PooledVerifierOptions, type Workers } from "./pooled-verifier.ts";
import { type Judge, ownVerifier, RewardSum, type WeightedJudge } from "./reward-sum.ts";
import type { VerifierMeter } from "./verifier-stats.ts";

/** Who gives one reward. */
export type RewardGiver =
  /** The verifier that the problem itself names. */
  | { readonly by: "verifier" }
  /** A module in the processes of the pool: a URL, with the name of its export after #. */
  | { readonly by: "module"; readonly url: string }
  /** A function in this process; `reward` is absent where its entry script is not running. */
  | {
      readonly by: "function";
      readonly name: string;
      readonly reward?: RewardFunction | undefined;
      readonly timeoutMs?: number | undefined;
      readonly concurrency?: number | undefined;
    };

export interface RewardPart {
  /** Name in counts and metrics. */
  readonly verifier: string;
  /** Among several. */
  readonly name: string;
  readonly weight: number;
  readonly giver: RewardGiver;
}

/** How problems are judged that name this verifier: by one reward, or by the weighted mean of several. */
export interface RewardPlan {
  readonly verifier: string;
  readonly parts: readonly [RewardPart, ...RewardPart[]];
  /** One part's verdict as it is, or a sum that tells its parts. */
  readonly isSum: boolean;
}

/** What the rewards of a pool work with. */
export interface RewardPlace {
  readonly workers: Workers;
  readonly defaults: PooledVerifierOptions["defaults"];
  readonly closing: AbortSignal;
  /** The pool's own verdicts. */
  readonly verify: Judge["judge"];
}

/** Something that judges, and its counts where it is not made of others. */
export interface CountedJudge extends Judge {
  readonly meter?: VerifierMeter;
  /** Milliseconds that one completion may take, where that is known. */
  readonly timeoutMs?: number;
}

const CALLS_AT_ONCE = 16;

/** The judges of a plan by name: of what its problems name, and of each reward that has counts of its own. */
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

function openGiver({ verifier, giver }: RewardPart, place: RewardPlace): CountedJudge {
  if (giver.by === "verifier") return ownVerifier(place.verify);
  const { workers, defaults, closing } = place;
  if (giver.by === "module") {
    const options = { name: verifier, moduleUrl: giver.url, isReward: true, defaults };
    return new PooledVerifier(options, workers);
  }
  const { name, reward, timeoutMs = defaults.timeoutMs, concurrency = CALLS_AT_ONCE } = giver;
  if (reward === undefined) return absent(name, verifier);
  return new FunctionVerifier({ reward, timeoutMs, concurrency, closing });
}

/** A function whose entry script did not make this pool. */
const absent = (name: string, verifier: string): Judge => ({
  judge: () =>
    Promise.reject(
      new HoneError("HONE_ERR_CONFIG", `${verifier} is the function ${name}, which is not here`, {
        hint: "A function lives in its entry script: give that (--recipe <file>), or put the function into a module of its own.",
      }),
    ),
});
