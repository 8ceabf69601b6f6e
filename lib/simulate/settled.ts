import type { SettledGroup } from "../orchestration/index.ts";
import type { Rollout, ScoredRollout, ScoredVerdict } from "../records.ts";
import type { SubmittedGroup } from "./attempt.ts";

const NO_FLOATS = new Float32Array(0);
const NO_VERSIONS = new Uint32Array(0);
/** As long as any answer that is worth simulating; the operating system backs what is touched, and nobody touches it. */
const ZEROS = new ArrayBuffer(4 * 2 ** 22);
const JUDGED: ScoredVerdict = { status: "correct", score: 1, reason: "simulated" };

/** Makes the line's nouns of simulated answers: their tokens are a length, since nobody reads them. */
export class SettledGroups {
  /** By length: an array of each length serves all answers that have it. */
  readonly #tokens: (Int32Array | undefined)[] = [];

  rollouts({ request, attempts, outcome }: SubmittedGroup): Rollout[] {
    const promptTokens = this.#ofLength(Math.round(outcome.promptTokens));
    return attempts.map(({ number, length, endedAt }) => ({
      problem: request.problem,
      attempt: number,
      promptTokens,
      tokens: this.#ofLength(length),
      logprobs: NO_FLOATS,
      entropies: NO_FLOATS,
      versions: NO_VERSIONS,
      oldestKvVersions: NO_VERSIONS,
      finish: "eos",
      text: "",
      submittedMs: request.submittedMs,
      finishedMs: endedAt * 1000,
    }));
  }

  /** The group after rewards and filter, which are in its outcome. */
  settle({ request, outcome }: SubmittedGroup, rollouts: readonly Rollout[]): SettledGroup {
    const members: ScoredRollout[] = rollouts.map((rollout) => ({
      rollout,
      verdict: JUDGED,
      reward: 1,
      penaltyScale: 0,
      penalty: 0,
      advantage: 0,
    }));
    const { problem, submittedVersion } = request;
    const group = { problem, rollouts: members, solveRate: 1, submittedVersion };
    return {
      request,
      rollouts,
      unscored: [],
      group: outcome.kept ? group : { ...group, dropped: "zero-advantage" },
    };
  }

  #ofLength(count: number): Int32Array {
    let tokens = this.#tokens[count];
    if (tokens === undefined) {
      tokens = new Int32Array(ZEROS, 0, count);
      this.#tokens[count] = tokens;
    }
    return tokens;
  }
}
