import type { ScoredVerdict } from "../records.ts";

/** Rewards by status. */
export interface RewardRow {
  readonly correct: number;
  readonly wrong: number;
  readonly no_answer: number;
  readonly unparsable: number;
  /** Reward of a partly right answer, regardless of its score; default: between `wrong` and `correct` by the score. */
  readonly partial?: number | undefined;
}

/** A reward for every verdict, with one row for answers that ended by themselves and one for truncated answers. */
export interface RewardTable {
  readonly finished: RewardRow;
  readonly truncated: RewardRow;
}

const ZERO = { wrong: 0, no_answer: 0, unparsable: 0 };

/** Source: PipelineRL (58d3934) conf/rewards/pure_success.yaml and success_and_format.yaml. */
const REWARD_TABLES = {
  pure_success: { finished: { correct: 1, ...ZERO }, truncated: { correct: 1, ...ZERO } },
  success_and_format: { finished: { correct: 1, ...ZERO }, truncated: { correct: 0, ...ZERO } },
} as const satisfies Readonly<Record<string, RewardTable>>;

/** The verdict's own score, a named table, or a custom one. */
export type RewardRule = "score" | keyof typeof REWARD_TABLES | RewardTable;

/**
 * R: a verdict's reward before the length penalty.
 * partial, and wrong with a score of its own: R = wrong + score (correct - wrong)
 * Source: PipelineRL domains/ifeval/rollouts.py and domains/fn_calling/rollouts.py, which use the table in this way.
 */
export function tableReward(verdict: ScoredVerdict, finished: boolean, rule: RewardRule): number {
  if (rule === "score") return verdict.score;
  const table = typeof rule === "string" ? REWARD_TABLES[rule] : rule;
  const row: RewardRow = finished ? table.finished : table.truncated;
  const { status, score } = verdict;
  if (status === "partial" && row.partial !== undefined) return row.partial;
  return status === "partial" || status === "wrong"
    ? row.wrong + score * (row.correct - row.wrong)
    : row[status];
}
