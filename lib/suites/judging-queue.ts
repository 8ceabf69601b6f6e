import { versionOf } from "../domains/index.ts";
import type { Problem } from "../records.ts";
import type { VerificationRequest, VerifierPool } from "../rewards/index.ts";
import type { Answer } from "./answerer.ts";
import type { EvaluationLog, KeptCompletion, RecordLine } from "./record.ts";
import type { Suite } from "./suite.ts";
import { problemKey } from "./suite.ts";

/**
 * Most completions of a verifier in one message to the pool, and how long the first waits for others; fewer messages
 * cost less time.
 */
const BATCH = 256;
const GATHER_MS = 250;
/** Time a verdict waits for others to be written with it: a write costs as much as some judging. Milliseconds. */
const WRITE_MS = 250;

interface Waiting {
  readonly key: string;
  readonly request: VerificationRequest;
}

/** True if a completion has a verdict of its verifier's current version; an outage does not count. */
export const isJudged = (completion: KeptCompletion | undefined, verifier: string): boolean =>
  completion?.verdict !== undefined &&
  completion.verdict.status !== "unscored" &&
  completion.version === versionOf(verifier);

/** Lets every completion be judged once, in the order of arrival, and writes the verdicts to the record. */
export class JudgingQueue {
  /** Called after verdicts have been written. */
  onJudged: () => void = () => {};
  /** Called with the error that prevents further judging. */
  onFailure: (error: unknown) => void = () => {};
  /** Completions that got no verdict in this session. */
  unscored = 0;
  readonly #pool: Pick<VerifierPool, "verify">;
  readonly #log: EvaluationLog;
  /** Keys that were added in this session. */
  readonly #added = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  /** Completions to send next, by verifier: the pool sends each verifier's in messages of their own. */
  readonly #next = new Map<string, Waiting[]>();
  /** Verdicts that are not written to the record yet. */
  #judged: RecordLine[] = [];
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: NodeJS.Timeout | undefined;

  constructor(pool: Pick<VerifierPool, "verify">, log: EvaluationLog) {
    this.#pool = pool;
    this.#log = log;
  }

  /** Completions without a verdict yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Queues a stored completion; ignores one that has its verdict, or is already queued. */
  add(key: string, problem: Problem, { text, finish }: Pick<Answer, "text" | "finish">): void {
    if (this.#added.has(key) || isJudged(this.#log.record.completions.get(key), problem.verifier)) return;
    this.#added.add(key);
    this.#waiting += 1;
    if (this.#next.size === 0) this.#timer = setTimeout(() => this.#sendAll(), GATHER_MS);
    const batch = this.#next.get(problem.verifier) ?? [];
    this.#next.set(problem.verifier, batch);
    if (batch.push({ key, request: { problem, text, finish } }) === BATCH) this.#send(problem.verifier);
  }

  /** Queues completions without verdicts from an earlier session, for the problems of these suites. */
  async resume(suites: readonly Suite[]): Promise<void> {
    const left = new Set(
      [...this.#log.record.completions.values()]
        .filter((one) => !isJudged(one, this.#log.record.problems.get(one.problem)?.verifier ?? ""))
        .map(({ key }) => key),
    );
    if (left.size === 0) return;
    const problems = new Map(suites.flatMap((suite) => [...placesOf(suite)]));
    for (const line of this.#log.lines()) {
      const place = "completion" in line && left.has(line.completion) ? problems.get(line.of) : undefined;
      if (place === undefined || !("completion" in line)) continue;
      this.add(line.completion, place.suite.problem(place.index), line);
      while (this.#running.size > BATCH) await Promise.race(this.#running);
    }
  }

  /**
   * Resolves when everything added so far has been judged, or could not be, and all of that is written down.
   */
  async drained(): Promise<void> {
    this.#sendAll();
    while (this.#running.size > 0) await Promise.all(this.#running);
    this.write();
  }

  /** Writes down the verdicts that have come: from then on they count. Throws HONE_ERR_IO. */
  write(): void {
    clearTimeout(this.#writing);
    const judged = this.#judged;
    if (judged.length === 0) return;
    this.#judged = [];
    this.#log.add(judged);
    this.unscored += judged.filter((line) => "verdict" in line && line.verdict.status === "unscored").length;
    this.#waiting -= judged.length;
    this.onJudged();
  }

  #sendAll(): void {
    for (const verifier of this.#next.keys()) this.#send(verifier);
  }

  #send(verifier: string): void {
    const batch = this.#next.get(verifier)!;
    this.#next.delete(verifier);
    if (this.#next.size === 0) clearTimeout(this.#timer);
    const work = this.#judge(batch)
      .catch((error) => this.onFailure(error))
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  async #judge(batch: readonly Waiting[]): Promise<void> {
    const verdicts = await this.#pool.verify(batch.map(({ request }) => request));
    if (this.#judged.length === 0) this.#writing = setTimeout(() => this.#writeOrFail(), WRITE_MS);
    for (const [i, { key, request }] of batch.entries())
      this.#judged.push({
        verdict: verdicts[i]!,
        on: key,
        version: versionOf(request.problem.verifier),
      });
  }

  #writeOrFail(): void {
    try {
      this.write();
    } catch (error) {
      this.onFailure(error);
    }
  }
}

function* placesOf(suite: Suite): Generator<[string, { suite: Suite; index: number }]> {
  for (let index = 0; index < suite.count; index++)
    yield [problemKey(suite.problem(index)), { suite, index }];
}
