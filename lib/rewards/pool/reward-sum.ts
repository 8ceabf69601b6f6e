import { rewardedReference } from "../../domains/reward.ts";
import type { ScoredVerdict, Verdict } from "../../records.ts";
import type { VerificationRequest } from "./pooled-verifier.ts";

/** Judges requests; the verdicts are in the order of the requests. */
export interface Judges {
  judge(requests: readonly VerificationRequest[]): Promise<Verdict[]>;
}

/** One of several rewards that are summed. */
export interface WeightedJudge extends Judges {
  readonly name: string;
  /** Weight relative to the other rewards, on any scale. */
  readonly weight: number;
}

/** Judges a problem by the verifier that the problem names, with that verifier's form of reference. */
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

/**
 * Combines several rewards into their weighted mean. One that does not apply adds 0, as in TRL's sum. A completion
 * without a verdict from one of them, or to which none applies, is unscored.
 */
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
    const applied: Applied[] = [];
    for (const [i, verdict] of verdicts.entries()) {
      const part = this.#parts[i]!;
      if (verdict.status !== "unscored") applied.push({ part, verdict });
      else if (verdict.notApplicable !== true || (i === verdicts.length - 1 && applied.length === 0))
        return { ...verdict, cause: `reward ${part.name}: ${verdict.cause}` };
    }
    const total = this.#parts.reduce((sum, { weight }) => sum + weight, 0);
    const mean = applied.reduce((sum, { part, verdict }) => sum + (part.weight / total) * verdict.score, 0);
    const parts = Object.fromEntries(applied.map(({ part, verdict }) => [part.name, verdict.score]));
    const reason = reasonOf(applied);
    // If no part exceeds 1, rounding must not push the sum across 1, which decides whether a problem is solved.
    const most = Math.max(...applied.map(({ verdict }) => verdict.score));
    const isFull =
      applied.length === this.#parts.length && applied.every(({ verdict }) => verdict.score === 1);
    if (applied.every(({ verdict }) => verdict.status === "correct"))
      return { status: "correct", score: isFull ? 1 : mean, reason, parts };
    const score = most <= 1 ? Math.min(mean, BELOW_ONE) : mean;
    return { status: score > 0 ? "partial" : "wrong", score, reason, parts };
  }
}

/** The verdict of a part that applies. */
interface Applied {
  readonly part: WeightedJudge;
  readonly verdict: ScoredVerdict;
}

function reasonOf(applied: readonly Applied[]): string {
  const each = applied.map(
    ({ part, verdict: { score, reason } }) => `${part.name} ${Number(score.toFixed(3))} (${reason})`,
  );
  return each.join(", ").slice(0, REASON_CHARS);
}

const BELOW_ONE = 1 - Number.EPSILON;
const REASON_CHARS = 500;
