import type { SettledGroup } from "../orchestration/index.ts";
import type { FinishReason, Problem, Rollout, ScoredRollout, ScoredVerdict } from "../records.ts";
import type { Attempt, SubmittedGroup } from "./attempt.ts";

const NO_FLOATS = new Float32Array(0);
const NO_VERSIONS = new Uint32Array(0);
/** As long as any answer that is worth simulating; the operating system backs what is touched, and nobody touches it. */
const ZEROS = new ArrayBuffer(4 * 2 ** 22);
const JUDGED: ScoredVerdict = { status: "correct", score: 1, reason: "simulated" };

/** An answer as the line sees it. What is the same for all of them takes no memory: a run makes a million. */
class SimulatedRollout implements Rollout {
  readonly tokens: Int32Array;
  readonly promptTokens: Int32Array;
  readonly #attempt: Attempt;

  constructor(attempt: Attempt, tokens: Int32Array, promptTokens: Int32Array) {
    this.#attempt = attempt;
    this.tokens = tokens;
    this.promptTokens = promptTokens;
  }

  get problem(): Problem {
    return this.#attempt.group.request.problem;
  }

  get attempt(): number {
    return this.#attempt.number;
  }

  get logprobs(): Float32Array {
    return NO_FLOATS;
  }

  get entropies(): Float32Array {
    return NO_FLOATS;
  }

  get versions(): Uint32Array {
    return NO_VERSIONS;
  }

  get oldestKvVersions(): Uint32Array {
    return NO_VERSIONS;
  }

  get finish(): FinishReason {
    return "eos";
  }

  get text(): string {
    return "";
  }

  get submittedMs(): number {
    return this.#attempt.group.request.submittedMs;
  }

  get finishedMs(): number {
    return this.#attempt.endedAt * 1000;
  }
}

/** Makes the line's nouns of simulated answers: their tokens are a length, since nobody reads them. */
export class SettledGroups {
  /** By length: an array of each length serves all answers that have it. */
  readonly #tokens: (Int32Array | undefined)[] = [];

  rollouts({ attempts, outcome }: SubmittedGroup): Rollout[] {
    const promptTokens = this.#ofLength(Math.round(outcome.promptTokens));
    return attempts.map(
      (attempt) => new SimulatedRollout(attempt, this.#ofLength(attempt.length), promptTokens),
    );
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
