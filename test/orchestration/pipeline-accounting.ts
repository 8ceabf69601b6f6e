import type { GroupRequest } from "../../lib/orchestration/pipeline/group-request.ts";
import type { SettledGroup } from "../../lib/orchestration/pipeline/grouper.ts";

import type { DropReason, Problem, ScoredRollout } from "../../lib/records.ts";

export const problemOf = (domain: string, id = 0): Problem => ({
  id,
  domain,
  family: "f",
  level: 0,
  question: "q",
  verifier: "v",
  reference: null,
});

export function requestOf(
  group: number,
  submittedVersion: number,
  rest: Partial<GroupRequest> = {},
): GroupRequest {
  const domain = rest.domain ?? "math";
  const numbers = { index: group, attempts: 4, submittedMs: 0 };
  return { group, domain, problem: problemOf(domain, group), submittedVersion, ...numbers, ...rest };
}

export function rolloutOf(
  prompt: readonly number[],
  tokens: readonly number[],
  advantage: number,
): ScoredRollout {
  const n = tokens.length;
  return {
    rollout: {
      problem: problemOf("math"),
      attempt: 0,
      promptTokens: Int32Array.from(prompt),
      tokens: Int32Array.from(tokens),
      logprobs: Float32Array.from(tokens, (t) => -t / 8),
      entropies: new Float32Array(n),
      versions: new Uint32Array(n),
      oldestKvVersions: new Uint32Array(n),
      finish: "eos",
      text: "",
      submittedMs: 0,
      finishedMs: 0,
    },
    verdict: { status: "correct", score: 1, reason: "" },
    reward: 1,
    penaltyScale: 0,
    penalty: 0,
    advantage,
  };
}

export const settledOf = (group: number, rollouts: ScoredRollout[], dropped?: DropReason): SettledGroup => ({
  request: requestOf(group, 0),
  group: {
    problem: problemOf("math", group),
    rollouts,
    solveRate: 1,
    submittedVersion: 0,
    ...(dropped && { dropped }),
  },
  rollouts: rollouts.map(({ rollout }) => rollout),
  unscored: [],
});
