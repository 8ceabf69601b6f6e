import { type RewardFunction, rewardedReference, rewardInput, rewardVerdict } from "../../domains/reward.ts";
import type { RewardScale } from "../../domains/reward-scale.ts";
import type { Verdict } from "../../records.ts";
import { Semaphore } from "../../shared/async/semaphore.ts";
import { checkVerdict } from "./judging.ts";
import type { VerificationRequest } from "./pooled-verifier.ts";
import { noAnswerIn, TimeLimit, tooSlow } from "./time-limit.ts";
import { faultOf } from "./verifier-fault.ts";
import { VerifierMeter } from "./verifier-stats.ts";

export interface FunctionVerifierOptions {
  readonly reward: RewardFunction;
  readonly scale?: RewardScale | undefined;
  readonly timeoutMs: number;
  /** Largest number of concurrent calls. */
  readonly concurrency: number;
  /** Aborts when verdicts are no longer awaited. */
  readonly closing: AbortSignal;
}

/** Outcome of a call, or a time-out. */
type Settled = { readonly returned: unknown } | { readonly thrown: unknown } | "late";

/**
 * Calls a reward function that exists in this process only. Abandons an asynchronous call at its time limit.
 * A synchronous loop cannot be interrupted here: it blocks this thread, and the completion scores 0 once it
 * returns.
 */
export class FunctionVerifier {
  readonly meter = new VerifierMeter();
  readonly #options: FunctionVerifierOptions;
  readonly #semaphore: Semaphore;

  constructor(options: FunctionVerifierOptions) {
    this.#options = options;
    this.#semaphore = new Semaphore(() => options.concurrency);
  }

  /** Verdicts in the order of the requests; retries an unscored one once. Never rejects. */
  judge(requests: readonly VerificationRequest[]): Promise<Verdict[]> {
    return Promise.all(requests.map((request) => this.#judgeOne(request)));
  }

  async #judgeOne(request: VerificationRequest): Promise<Verdict> {
    let verdict = await this.#semaphore.run(() => this.#call(request));
    if (verdict.status === "unscored") {
      this.meter.retries += 1;
      verdict = await this.#semaphore.run(() => this.#call(request));
    }
    this.meter.recordVerdict(verdict);
    return verdict;
  }

  async #call(request: VerificationRequest): Promise<Verdict> {
    if (this.#options.closing.aborted) return { status: "unscored", cause: "the run ended" };
    const { timeoutMs } = this.#options;
    const started = performance.now();
    const { settled, blockedMs } = await this.#settle(request);
    this.meter.recordCall((performance.now() - started) * 1000, false);
    if (settled === "late" || blockedMs > timeoutMs) {
      this.meter.timeouts += 1;
      this.meter.overrunMs = Math.max(this.meter.overrunMs, performance.now() - started - timeoutMs);
      return blockedMs > timeoutMs ? tooSlow(timeoutMs) : noAnswerIn(timeoutMs);
    }
    if ("thrown" in settled)
      return { status: "unscored", cause: `the reward threw: ${faultOf(settled.thrown)}` };
    return rewardVerdict(settled.returned, (verdict) => checkVerdict(verdict, false), this.#options.scale);
  }

  /** Calls the function; `blockedMs` is the time it took to return, settled or not. */
  async #settle({ problem, text, finish }: VerificationRequest): Promise<{
    readonly settled: Settled;
    readonly blockedMs: number;
  }> {
    const { reward, timeoutMs, closing } = this.#options;
    let isUp = () => {};
    const late = new Promise<Settled>((resolve) => {
      isUp = () => resolve("late");
    });
    const time = new TimeLimit(timeoutMs, isUp);
    const end = () => time.abort();
    closing.addEventListener("abort", end, { once: true });
    time.begin();
    const started = performance.now();
    try {
      const input = rewardInput({ text, finish }, rewardedReference(problem.reference), time.signal);
      const returned = reward(input);
      const blockedMs = performance.now() - started;
      const answer = Promise.resolve(returned).then(
        (value): Settled => ({ returned: value }),
        (thrown: unknown): Settled => ({ thrown }),
      );
      return { settled: await Promise.race([answer, late]), blockedMs };
    } catch (thrown) {
      return { settled: { thrown }, blockedMs: performance.now() - started };
    } finally {
      time.end();
      closing.removeEventListener("abort", end);
    }
  }
}
