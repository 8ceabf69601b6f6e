import {
  type DropReason,
  type FinishReason,
  type Problem,
  type Rollout,
  type ScoredRollout,
  type ScoredVerdict,
  sampledTokens,
  type Verdict,
} from "../../records.ts";
import type { SettledGroup } from "../pipeline/index.ts";
import { versionRuns } from "./version-runs.ts";

/** Fields of a problem that a verdict depends on. */
export type JudgedProblem = Pick<Problem, "id" | "domain" | "family" | "level" | "verifier" | "reference"> & {
  /** The prompt as the model saw it, with special tokens spelled out; absent in journals of older versions. */
  readonly prompt?: string;
  /**
   * Identity, 32 hex digits: for a row of a data set a hash of its question and reference, the same in every draw;
   * for a generated problem a hash of its id, hence of seed and index. Absent in journals of older versions.
   */
  readonly identity?: string;
  /** File and line of the row from which the problem is made. */
  readonly row?: string;
  /** The first sixty characters of the question, with single spaces. */
  readonly begins?: string;
};

/** A completion of a group. If `reward` is absent, the completion was not scored and not trained on. */
export interface TakenMember {
  /** Hash of the completion. */
  readonly completion: string;
  readonly attempt: number;
  /** Number of sampled tokens. */
  readonly tokens: number;
  /** [first token, version, first token, version, ...] */
  readonly versions: readonly number[];
  readonly status: Verdict["status"];
  readonly score?: number;
  readonly reward?: number;
  readonly penaltyScale?: number;
  readonly penalty?: number;
  readonly advantage?: number;
  /** Truncated, and left out of the loss (advantages.overlong: "mask"). */
  readonly masked?: true;
}

/** A group that a step took out of the pipeline, and the rewards of its members. */
export interface TakenGroup {
  /** Step number as in steps.jsonl, from 1. */
  readonly step: number;
  readonly group: number;
  /** Hash of the group's problem. */
  readonly of: string;
  readonly submittedVersion: number;
  /** Reason why the group was not trained on. */
  readonly dropped?: DropReason;
  readonly members: readonly TakenMember[];
}

/**
 * One object per line: a problem, a completion of a problem, a verdict on a completion, each named by its hash; a
 * group that a step took; and where a resumed run continued (`sitting`, its number of finished steps): groups that
 * later steps had taken before are void.
 */
export type JournalLine =
  | ({ readonly problem: string } & JudgedProblem)
  | {
      readonly completion: string;
      readonly of: string;
      readonly finish: FinishReason;
      readonly text: string;
      /** Ranges [begin, end, ...] of an episode's text that its environment gave. */
      readonly given?: readonly number[];
      /** Token ids (see {@link encodeIds}), if a Python reward needs them. */
      readonly ids?: string;
    }
  | { readonly verdict: Verdict; readonly on: string; readonly version: number }
  | TakenGroup
  | { readonly sitting: number };

/** Hashes of a completion and of its problem. */
export interface CompletionKeys {
  readonly completion: string;
  readonly of: string;
}

/** @param step from 1. @param keysOf returns the hashes of a rollout of the group and of its problem. */
export function takenGroup(
  { request, group, rollouts }: SettledGroup,
  step: number,
  keysOf: (rollout: Rollout) => CompletionKeys,
): TakenGroup | undefined {
  const first = rollouts[0];
  if (first === undefined) return undefined; // every attempt was aborted
  const scored = new Map(group.rollouts.map((one) => [one.rollout, one] as const));
  return {
    step,
    group: request.group,
    of: keysOf(first).of,
    submittedVersion: group.submittedVersion,
    ...(group.dropped && { dropped: group.dropped }),
    members: rollouts.map((rollout) => ({
      completion: keysOf(rollout).completion,
      attempt: rollout.attempt,
      tokens: sampledTokens(rollout),
      versions: versionRuns(rollout.versions),
      ...shaped(scored.get(rollout)),
    })),
  };
}

function shaped(scored: ScoredRollout | undefined) {
  if (scored === undefined) return { status: "unscored" as const };
  const { reward, penaltyScale, penalty, advantage, masked } = scored;
  const { status, score }: ScoredVerdict = scored.verdict;
  const numbers = { score, reward, penaltyScale, penalty, advantage };
  return { status, ...numbers, ...(masked && { masked: true as const }) };
}
