import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { writeWhole } from "../metrics/index.ts";
import type { Problem } from "../records.ts";
import { VerifierPool } from "../rewards/index.ts";
import { lockFolder } from "../shared/files/folder-lock.ts";
import type { Answerer, Drawn, Draws } from "./answerer.ts";
import { JudgingQueue } from "./judging-queue.ts";
import {
  type AnsweredDraw,
  EVALUATION_FILES,
  EvaluationLog,
  expectManifest,
  linesOfDraws,
  type RecordLine,
} from "./record.ts";
import { type EvaluationResults, resultsOf } from "./results.ts";
import type { Suite } from "./suite.ts";
import { Wanted, type Wants } from "./wanted.ts";

export interface EvaluationPlan extends Wants {
  /** Folder of the evaluation; an existing one is resumed. */
  readonly dir: string;
  /** Display name of the model. */
  readonly model: string;
  /** Verifier processes. Default 1. */
  readonly workers?: number | undefined;
  /** Verifiers that the caller owns and closes. Default: a pool of its own. */
  readonly verifiers?: Verifiers | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
}

/**
 * Numbers of completions that are wanted, present and without a verdict; tokens generated in this session.
 */
export interface EvaluationProgress {
  readonly wanted: number;
  readonly there: number;
  readonly waiting: number;
  readonly tokens: number;
  /**
   * Numbers of draws without an answer and of completions without a verdict; each is an outage, tried again at the
   * next start.
   */
  readonly outages: number;
}

type Verifiers = Pick<VerifierPool, "verify">;

/** Completions awaiting verdicts at which sampling pauses. */
const MOST_UNJUDGED = 4096;
/** Problems that are written down together. */
const LINES_AT_ONCE = 64;
/** Time the first completion waits for others to be written with it: a small model gives a thousand a second. Milliseconds. */
const GATHER_MS = 250;

/**
 * Prompts a model with every problem of every suite and judges the answers; skips those already in the folder. Stores
 * a completion before it is judged or counted. An outage (of a verifier, of a server) counts neither as an answer nor
 * as a score of 0: it is counted separately, and retried when the evaluation is started again. Throws HONE_ERR_USAGE
 * if the folder is in use or has completions of another model or sampling, and for episodes that the answerer cannot
 * play; the answerer's errors, and the signal's reason.
 */
export async function evaluateSuites(
  answerer: Answerer,
  suites: readonly Suite[],
  plan: EvaluationPlan,
): Promise<EvaluationResults> {
  const played = answerer.plays === true ? undefined : suites.find(({ play }) => play !== undefined);
  if (played !== undefined)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${played.name} is played over several turns, which --endpoint does not support: give a model folder`,
    );
  using _ = await lockFolder(plan.dir, "an evaluation");
  expectManifest(plan.dir, plan.model, answerer.identity);
  using log = new EvaluationLog(plan.dir);
  const modules = Object.assign({}, ...suites.map((suite) => suite.modules)) as Record<string, string>;
  const variables = [...new Set(suites.flatMap(({ env = [] }) => env))];
  const own =
    plan.verifiers === undefined
      ? new VerifierPool({ workers: plan.workers ?? 1, modules, variables })
      : undefined;
  try {
    const judging = new JudgingQueue(plan.verifiers ?? own!, log);
    const evaluation = new Evaluation(answerer, log, judging, plan);
    await evaluation.run(suites);
    const results = resultsOf(log.record, { model: plan.model, outages: evaluation.outages });
    writeWhole(join(plan.dir, EVALUATION_FILES.results), `${JSON.stringify(results, null, 2)}\n`);
    return results;
  } finally {
    await own?.abandon();
  }
}

class Evaluation {
  /** Number of draws without an answer, by reason. */
  readonly outages = new Map<string, number>();
  readonly #answerer: Answerer;
  readonly #log: EvaluationLog;
  readonly #judging: JudgingQueue;
  readonly #plan: EvaluationPlan;
  readonly #counts = { wanted: 0, there: 0, tokens: 0, lost: 0 };
  /** Answers since the last write. */
  #answered: AnsweredDraw[] = [];
  #timer: NodeJS.Timeout | undefined;
  #inHand = 0;
  /** Set at the end: later answers are ignored. */
  #isOver = false;
  #wake: () => void = () => {};
  #failed: (error: unknown) => void = () => {};

  constructor(answerer: Answerer, log: EvaluationLog, judging: JudgingQueue, plan: EvaluationPlan) {
    this.#answerer = answerer;
    this.#log = log;
    this.#judging = judging;
    this.#plan = plan;
    judging.onFailure = (error) => this.#failed(error);
    judging.onJudged = () => {
      this.#tell();
      this.#wake();
    };
  }

  async run(suites: readonly Suite[]): Promise<void> {
    const { signal } = this.#plan;
    signal?.throwIfAborted();
    const failure = new Promise<never>((_, reject) => {
      this.#failed = reject;
    });
    failure.catch(() => {}); // may never be awaited
    const stop = () => this.#failed(signal!.reason);
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const wanted = await Promise.race([this.#prepare(suites), failure]);
      await Promise.race([this.#askAll(wanted), failure]);
    } finally {
      this.#write();
      this.#judging.write();
      this.#isOver = true;
      this.#wake();
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Passes every problem to the answerer, records the prompts, and queues completions without verdicts. */
  async #prepare(suites: readonly Suite[]): Promise<Wanted> {
    const wanted = new Wanted(suites, this.#plan);
    wanted.refuse(await this.#answerer.prepare(wanted.problems()));
    for (const suite of suites) {
      const lines: RecordLine[] = [];
      for (const line of wanted.lines(this.#log.record, suite)) {
        if (lines.push(line) === LINES_AT_ONCE) this.#log.add(lines.splice(0));
      }
      this.#log.add(lines);
    }
    let missing = 0;
    for (const { draws } of wanted.missing(this.#log.record)) missing += draws.seeds.length;
    this.#counts.wanted = wanted.completions;
    this.#counts.there = wanted.completions - missing;
    this.#tell();
    await this.#judging.resume(suites);
    return wanted;
  }

  async #askAll(wanted: Wanted): Promise<void> {
    const running = new Set<Promise<void>>();
    for (const { suite, draws } of wanted.missing(this.#log.record)) {
      await this.#until(() => this.#inHand < this.#answerer.width && this.#judging.waiting < MOST_UNJUDGED);
      if (this.#isOver) return;
      this.#inHand += draws.seeds.length;
      const one = this.#ask(suite, draws).finally(() => running.delete(one));
      one.catch((error) => this.#failed(error));
      running.add(one);
    }
    await Promise.all(running);
    this.#write();
    await this.#judging.drained();
  }

  #ask(suite: Suite, draws: Draws): Promise<void> {
    return this.#answerer.ask({ ...draws, play: suite.play }, (seed, drawn) => {
      if (this.#isOver) return;
      this.#inHand -= 1;
      this.#keep(suite, draws.problem, { attempt: draws.attempt, seed }, drawn);
      this.#wake();
    });
  }

  #keep(suite: Suite, problem: Problem, draw: { attempt: number; seed: number }, drawn: Drawn): void {
    if ("outage" in drawn) {
      this.outages.set(drawn.outage, (this.outages.get(drawn.outage) ?? 0) + 1);
      this.#counts.lost += 1;
      this.#tell();
      return;
    }
    if (this.#answered.length === 0) this.#timer = setTimeout(() => this.#writeOrFail(), GATHER_MS);
    this.#answered.push({ suite, problem, ...draw, answer: drawn });
  }

  #writeOrFail(): void {
    try {
      this.#write();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Writes the collected answers at once, counts them and sends them to the verifiers. */
  #write(): void {
    clearTimeout(this.#timer);
    const answered = this.#answered;
    this.#answered = [];
    const { keys, lines } = linesOfDraws(this.#log.record, answered);
    this.#log.add(lines);
    for (const [i, { problem, answer }] of answered.entries()) {
      this.#counts.there += 1;
      this.#counts.tokens += answer.tokens;
      this.#judging.add(keys[i]!, problem, answer);
    }
    this.#tell();
  }

  async #until(ready: () => boolean): Promise<void> {
    while (!ready() && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #tell(): void {
    const { wanted, there, tokens, lost } = this.#counts;
    const { waiting, unscored } = this.#judging;
    this.#plan.onProgress?.({ wanted, there, waiting, tokens, outages: lost + unscored });
  }
}
