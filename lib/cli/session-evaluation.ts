import { existsSync } from "node:fs";
import { join } from "node:path";
import { evaluates } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import {
  evaluate,
  type HeldOutRecord,
  type ProblemResult,
  problemScores,
  problemsAsked,
  type Scoreboard,
  scoreboard,
  type Validation,
  writeAnswers,
} from "../evaluation/index.ts";
import { RUN_FILES, readJson, writeWhole } from "../metrics/index.ts";
import type { PinnedPolicy, Run } from "../orchestration/index.ts";
import type { SessionDisplay } from "./session-display.ts";
import { UnscoredAnswers } from "./unscored-answers.ts";

export interface SessionEvaluationOptions {
  readonly dir: string;
  readonly signal?: AbortSignal | undefined;
  /** File for the evaluation's answers; undefined if they are not kept. */
  readonly record?: HeldOutRecord | undefined;
  readonly onPolicy?: ((when: "before" | "after", policy: PinnedPolicy) => Promise<void>) | undefined;
}

/**
 * Evaluates the policy on held-out problems, before training and after. Returns nothing if interrupted: half an
 * evaluation is not comparable.
 */
export class SessionEvaluation {
  before: Scoreboard[] = [];
  after: Scoreboard[] = [];
  /** Problems of the closing evaluation, under the first setting. */
  problems: Validation["problems"] = [];
  readonly seconds = { before: 0, after: 0 };
  readonly #options: SessionEvaluationOptions;
  readonly #display: SessionDisplay;

  constructor(options: SessionEvaluationOptions, display: SessionDisplay) {
    this.#options = options;
    this.#display = display;
  }

  /** Evaluates the weights from which training starts; a resumed session reads the result of the first session. */
  async evaluateBefore(run: Run): Promise<void> {
    const path = join(this.#options.dir, RUN_FILES.before);
    if (run.step > 0 && existsSync(path)) {
      this.before = readBefore(path);
      return;
    }
    this.before = await this.#timed(run, "before");
    writeWhole(path, JSON.stringify(this.before));
  }

  async evaluateAfter(run: Run): Promise<void> {
    this.after = await this.#timed(run, "after");
  }

  async #timed(run: Run, when: "before" | "after"): Promise<Scoreboard[]> {
    if (!evaluates(run.recipe)) return [];
    const begun = performance.now();
    try {
      return await this.#evaluate(run, when);
    } catch (error) {
      if (this.#options.signal?.aborted) return [];
      throw error;
    } finally {
      this.seconds[when] = (performance.now() - begun) / 1000;
    }
  }

  async #evaluate(run: Run, when: "before" | "after"): Promise<Scoreboard[]> {
    const { settings, problemsPerDomain, attempts, maxTokens } = run.recipe.evaluation;
    const { signal, onPolicy } = this.#options;
    await using policy = await run.pin();
    const problems = problemsAsked(policy, problemsPerDomain);
    this.#display.phase(`evaluation ${when}`, settings.length * problems);
    const boards: Scoreboard[] = [];
    for (const [i, setting] of settings.entries()) {
      const onProgress = (done: number, of: number) => this.#display.advance(i * of + done);
      const unscored = new UnscoredAnswers(policy);
      const asked = { problemsPerDomain, attempts, maxTokens };
      const kept = i === 0 ? this.#record(run, when, policy.version) : undefined;
      const plan = { ...setting, ...asked, onProgress, onUnscored: unscored.note, onAnswers: kept?.note };
      const results = await evaluate(policy, { ...plan, ...(signal && { signal }) });
      const board = scoreboard(results, { ...setting, version: policy.version });
      for (const line of unscored.told) this.#display.say(line);
      if (when === "before") unscored.expectEach(board);
      boards.push(board);
      kept?.end();
      if (i === 0) this.#keep(when, results);
    }
    await onPolicy?.(when, policy);
    return boards;
  }

  #record({ step }: Run, when: "before" | "after", version: number) {
    return this.#options.record?.begin({ when, step, version }, { fresh: when === "before" && step === 0 });
  }

  #keep(when: "before" | "after", results: readonly ProblemResult[]): void {
    const file = when === "before" ? RUN_FILES.heldOutBefore : RUN_FILES.heldOutAfter;
    writeAnswers(join(this.#options.dir, file), results);
    this.problems = problemScores(results);
  }
}

/** Throws HONE_ERR_FORMAT. */
function readBefore(path: string): Scoreboard[] {
  const boards = readJson(path);
  const isBoard = (board: unknown) =>
    typeof board === "object" &&
    board !== null &&
    "domains" in board &&
    "mean" in board &&
    "version" in board;
  if (Array.isArray(boards) && boards.every(isBoard)) return boards as Scoreboard[];
  throw new HoneError("HONE_ERR_FORMAT", `${path} does not contain the scores from before training`, {
    details: { path },
    hint: "Delete the file: the run then continues without the scores from before in its table.",
  });
}
