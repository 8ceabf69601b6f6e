import type { RolloutGroup, ScoredRollout } from "../records.ts";

/** Completions of a step, as a table that trackers show. */
export interface CompletionTable {
  readonly columns: readonly string[];
  /** One row per completion. */
  readonly data: readonly (readonly (string | number | null)[])[];
}

/** Most rows of a table, and characters per text: about 200 kB. */
export const MOST_ROWS = 32;
export const MOST_CHARS = 4000;

type Row = readonly [group: RolloutGroup, scored: ScoredRollout];

/** Column by name, as `hone samples` calls it. */
const COLUMNS: Readonly<Record<string, (row: Row) => string | number | null>> = {
  domain: ([, { rollout }]) => rollout.problem.domain,
  problem: ([, { rollout }]) => rollout.problem.id,
  attempt: ([, { rollout }]) => rollout.attempt,
  prompt: ([, { rollout }]) => cut(rollout.problem.question),
  completion: ([, { rollout }]) => cut(rollout.text),
  verdict: ([, { verdict }]) => verdict.status,
  score: ([, { verdict }]) => verdict.score,
  reward: ([, { reward }]) => reward,
  advantage: ([, { advantage }]) => advantage,
  tokens: ([, { rollout }]) => rollout.tokens.length,
  finish: ([, { rollout }]) => rollout.finish,
  reason: ([, { verdict }]) => cut(verdict.reason),
  dropped: ([group]) => group.dropped ?? null,
};

/** The first completion of each group, then the second of each, until there are `MOST_ROWS`; grouped by group. */
export function completionTable(step: number, groups: readonly RolloutGroup[]): CompletionTable {
  const most = Math.max(0, ...groups.map(({ rollouts }) => rollouts.length));
  const inTurn = Array.from({ length: most }, (_, i) => i).flatMap((i) =>
    groups.flatMap((group, place) => (group.rollouts[i] ? [{ place, i, group }] : [])),
  );
  const chosen = inTurn.slice(0, MOST_ROWS).sort((a, b) => a.place - b.place || a.i - b.i);
  const data = chosen.map(({ group, i }) => {
    const row: Row = [group, group.rollouts[i]!];
    return [step, ...Object.values(COLUMNS).map((column) => column(row))];
  });
  return { columns: ["step", ...Object.keys(COLUMNS)], data };
}

/** Cuts a text that is too long to its beginning and its end. */
function cut(text: string): string {
  if (text.length <= MOST_CHARS) return wellFormed(text);
  const half = MOST_CHARS / 2;
  return wellFormed(`${text.slice(0, half)} … ${text.slice(-half)}`);
}

/** Replaces lone surrogates, which a server may refuse, by U+FFFD. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** True if a tracker gets a table with this step. */
export const isDue = (step: number, every: number | undefined): boolean =>
  every !== undefined && step % every === 0;
