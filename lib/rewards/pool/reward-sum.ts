import { rewardedReference } from "../../domains/reward.ts";
import type { ScoredVerdict, Verdict } from "../../records.ts";
import type { VerificationRequest } from "./pooled-verifier.ts";

/** Who gives verdicts, in the order of the requests. */
export interface Judges {
  judge(requests: readonly VerificationRequest[]): Promise<Verdict[]>;
}

/** One of several rewards. */
export interface WeightedJudge extends Judges {
  readonly name: string;
  /** Any scale. */
  readonly weight: number;
}

/** Hands a problem to the verifier that it names itself, with the reference that this one reads. */
export function ownVerifier(verify: Judges["judge"]): Judges {
  return {
    judge: (requests) =>
      verify(
        requests.map(({ problem, ...completion }) => {
          const { prompt: question, verifier, reference } = rewardedReference(problem.reference);
          return { ...completion, problem: { ...problem, question, verifier, reference } };
        }),
      ),
  };
}

/** Several rewards as one: their weighted mean. A completion that one of them gives no verdict on is unscored. */
export class RewardSum implements Judges {
  readonly #parts: readonly WeightedJudge[];

  constructor(parts: readonly WeightedJudge[]) {
    this.#parts = parts;
  }

  async judge(requests: readonly VerificationRequest[]): Promise<Verdict[]> {
    const verdicts = await Promise.all(this.#parts.map((part) => part.judge(requests)));
    return requests.map((_, i) => this.#sum(verdicts.map((of) => of[i]!)));
  }

  #sum(verdicts: readonly Verdict[]): Verdict {
    const scored: ScoredVerdict[] = [];
    for (const [i, verdict] of verdicts.entries()) {
      if (verdict.status === "unscored")
        return { status: "unscored", cause: `reward ${this.#parts[i]!.name}: ${verdict.cause}` };
      scored.push(verdict);
    }
    const total = this.#parts.reduce((sum, { weight }) => sum + weight, 0);
    const mean = this.#parts.reduce((sum, { weight }, i) => sum + (weight / total) * scored[i]!.score, 0);
    const parts = Object.fromEntries(scored.map((verdict, i) => [this.#parts[i]!.name, verdict.score]));
    const reason = this.#reason(scored);
    // Where no part goes beyond 1, rounding must neither solve a problem nor leave one unsolved.
    const most = Math.max(...scored.map(({ score }) => score));
    if (scored.every(({ status }) => status === "correct"))
      return { status: "correct", score: scored.every(({ score }) => score === 1) ? 1 : mean, reason, parts };
    const score = most <= 1 ? Math.min(mean, BELOW_ONE) : mean;
    return { status: score > 0 ? "partial" : "wrong", score, reason, parts };
  }

  #reason(scored: readonly ScoredVerdict[]): string {
    const each = scored.map(
      ({ score, reason }, i) => `${this.#parts[i]!.name} ${Number(score.toFixed(3))} (${reason})`,
    );
    return each.join(", ").slice(0, REASON_CHARS);
  }
}

const BELOW_ONE = 1 - Number.EPSILON;
const REASON_CHARS = 500;
