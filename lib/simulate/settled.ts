import type { GroupRequest, SettledGroup } from "../orchestration/index.ts";
import type { Problem, Rollout, ScoredRollout, ScoredVerdict } from "../records.ts";
import type { Attempt, SubmittedGroup } from "./attempt.ts";

const NO_FLOATS = new Float32Array(0);
const NO_VERSIONS = new Uint32Array(0);
/** An array longer than any simulated answer. It takes no memory, since its pages are never touched. */
const ZEROS = new ArrayBuffer(4 * 2 ** 22);
const JUDGED: ScoredVerdict = { status: "correct", score: 1, reason: "simulated" };

/**
 * Makes the pipeline's objects from simulated answers: their tokens are only a length, since no code reads
 * them.
 */
export class SettledGroups {
  /** One array per length, shared by all answers of that length. */
  readonly #tokens: (Int32Array | undefined)[] = [];

  rollouts({ request, attempts, outcome }: SubmittedGroup): Rollout[] {
    const promptTokens = this.#ofLength(Math.round(outcome.promptTokens));
    return attempts.map(
      (attempt) => new SimulatedRollout(request, attempt, promptTokens, this.#ofLength(attempt.length)),
    );
  }

  /** Settles a group as its outcome says, in place of rewards and filter. */
  settle({ request, outcome }: SubmittedGroup, rollouts: readonly Rollout[]): SettledGroup {
    const members = rollouts.map((rollout) => new SimulatedMember(rollout));
    const { problem, submittedVersion } = request;
    const solveRate = 1;
    return {
      request,
      rollouts,
      unscored: [],
      group: outcome.kept
        ? { problem, rollouts: members, solveRate, submittedVersion }
        : { problem, rollouts: members, solveRate, submittedVersion, dropped: "zero-advantage" },
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

/** Fields with the same value in all instances are on the prototype, since there are millions of instances. */
class SimulatedRollout implements Rollout {
  readonly promptTokens: Int32Array;
  readonly tokens: Int32Array;
  readonly #request: GroupRequest;
  readonly #attempt: Attempt;

  constructor(request: GroupRequest, attempt: Attempt, promptTokens: Int32Array, tokens: Int32Array) {
    this.#request = request;
    this.#attempt = attempt;
    this.promptTokens = promptTokens;
    this.tokens = tokens;
  }

  get problem(): Problem {
    return this.#request.problem;
  }

  get attempt(): number {
    return this.#attempt.number;
  }

  get submittedMs(): number {
    return this.#request.submittedMs;
  }

  get finishedMs(): number {
    return this.#attempt.endedAt * 1000;
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

  get finish(): "eos" {
    return "eos";
  }

  get text(): string {
    return "";
  }
}

class SimulatedMember implements ScoredRollout {
  readonly rollout: Rollout;

  constructor(rollout: Rollout) {
    this.rollout = rollout;
  }

  get verdict(): ScoredVerdict {
    return JUDGED;
  }

  get reward(): number {
    return 1;
  }

  get penaltyScale(): number {
    return 0;
  }

  get penalty(): number {
    return 0;
  }

  get advantage(): number {
    return 0;
  }
}
