import { join } from "node:path";
import type { SettledGroup } from "../../lib/orchestration/pipeline/index.ts";
import { VerdictJournal } from "../../lib/orchestration/records/verdict-journal.ts";
import type { DropReason, Episode, FinishReason, Problem, Rollout, Verdict } from "../../lib/records.ts";

/** A completion of a constructed run; omitted fields get defaults. */
export interface Said {
  readonly text: string;
  readonly status?: Verdict["status"];
  readonly reason?: string;
  /** The reward. Default: 1 if correct, otherwise 0. */
  readonly reward?: number;
  readonly tokens?: number;
  readonly finish?: FinishReason;
  /** The weight versions that sampled its first and its second half. */
  readonly versions?: readonly [number, number];
  /** The ranges of its text that an environment wrote: begin, end, ... */
  readonly given?: readonly number[];
}

export interface Group {
  readonly problem?: number;
  readonly domain?: string;
  readonly reference?: unknown;
  readonly question?: string;
  /** File and line of the data set's row, if the problem comes from one. */
  readonly row?: string;
  readonly dropped?: DropReason;
  readonly said: readonly Said[];
}

/** Writes a run's journal as a run does: groups, step by step. */
export class ConstructedRun implements Disposable {
  readonly dir: string;
  readonly #journal: VerdictJournal;
  readonly #rows = new WeakMap<Problem, string>();
  #step: number;
  #group: number;

  /** @param stepsBefore steps that an earlier session did; undefined for a new run */
  constructor(dir: string, stepsBefore?: number) {
    this.dir = dir;
    const decode = (tokens: Int32Array) => `<bos>question ${tokens[0]}`;
    const resumed = stepsBefore !== undefined && { append: true, stepsBefore };
    this.#journal = new VerdictJournal(join(dir, "verdicts.jsonl"), {
      ...resumed,
      decode,
      placeOf: (problem) => this.#rows.get(problem),
    });
    this.#step = stepsBefore ?? 0;
    this.#group = 1000 * (stepsBefore ?? 0);
  }

  /** Judges the groups and lets one step train on them. */
  step(...groups: readonly Group[]): this {
    this.#step += 1;
    const settled = groups.map((group) => this.judge(group));
    this.#journal.taken(settled, this.#step);
    return this;
  }

  /** Judges a group on which no step trains. */
  judge(group: Group): SettledGroup {
    const problem = problemOf(group);
    if (group.row !== undefined) this.#rows.set(problem, group.row);
    const rollouts = group.said.map((said, attempt) => rolloutOf(problem, said, attempt));
    const verdicts = group.said.map(verdictOf);
    this.#journal.add(rollouts, verdicts);
    const scored = rollouts.flatMap((rollout, i) => {
      const verdict = verdicts[i]!;
      if (verdict.status === "unscored") return [];
      const { reward = verdict.score } = group.said[i]!;
      return [
        { rollout, verdict, reward, penaltyScale: 0.5, penalty: 2 * (reward - verdict.score), advantage: 0 },
      ];
    });
    const mean = scored.reduce((sum, { reward }) => sum + reward, 0) / scored.length;
    const members = scored.map((one) => ({ ...one, advantage: one.reward - mean }));
    this.#group += 1;
    return {
      request: { group: this.#group } as SettledGroup["request"],
      group: {
        problem,
        rollouts: members,
        solveRate: 0,
        submittedVersion: 0,
        ...(group.dropped && { dropped: group.dropped }),
      },
      rollouts,
      unscored: [],
    };
  }

  [Symbol.dispose](): void {
    this.#journal[Symbol.dispose]();
  }
}

const problemOf = ({
  problem = 1,
  domain = "math",
  question = "?",
  reference = { answer: "7" },
}: Group): Problem => ({
  id: problem,
  domain,
  family: "chain",
  level: 2,
  question,
  verifier: "math",
  reference,
});

function rolloutOf(
  problem: Problem,
  { text, tokens = 10, finish = "eos", versions = [0, 0], given }: Said,
  attempt: number,
): Rollout {
  const half = Math.ceil(tokens / 2);
  return {
    problem,
    attempt,
    promptTokens: Int32Array.of(problem.id),
    tokens: new Int32Array(tokens),
    versions: new Uint32Array(tokens).fill(versions[0]).fill(versions[1], half),
    finish,
    text,
    ...(given && {
      episode: { given: new Uint8Array(tokens), givenText: given } as Partial<Episode> as Episode,
    }),
  } as Partial<Rollout> as Rollout;
}

function verdictOf({ status = "wrong", reason = "because" }: Said): Verdict {
  if (status === "unscored") return { status, cause: reason };
  return { status, score: status === "correct" ? 1 : 0, reason };
}

/** "<think>thought</think>\boxed{answer}" */
export const boxed = (answer: string | number, thought = "thinking about it"): string =>
  `<think>${thought}</think>\\boxed{${answer}}`;
