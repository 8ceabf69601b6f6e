import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import {
  evaluate,
  type HeldOutRecord,
  problemScores,
  rank,
  readValidations,
  type Scoreboard,
  type Selection,
  scoreboard,
  select,
  type Validation,
  writeValidations,
} from "../evaluation/index.ts";
import { RUN_FILES } from "../metrics/index.ts";
import { checkpointName, type PinnedPolicy, type Run, type RunHooks } from "../orchestration/index.ts";
import { UnscoredAnswers } from "./unscored-answers.ts";

export interface SessionValidationOptions {
  readonly dir: string;
  readonly signal?: AbortSignal | undefined;
  /** File for the evaluation's answers; undefined if they are not kept. */
  readonly record?: HeldOutRecord | undefined;
  readonly say: (line: string) => void;
}

/**
 * Evaluates the weights of chosen steps during training, on a separate engine, and keeps the checkpoints with the
 * best scores. Runs one evaluation at a time: a step that is due waits for the previous evaluation. The next session
 * repeats an interrupted evaluation from the step's checkpoint.
 */
export class SessionValidation {
  readonly #options: SessionValidationOptions;
  readonly #path: string;
  #run: Run | undefined;
  #validations: Validation[] = [];
  #running: Promise<void> = Promise.resolve();
  #awaited: string | undefined;

  constructor(options: SessionValidationOptions) {
    this.#options = options;
    this.#path = join(options.dir, RUN_FILES.validation);
  }

  /** Loads the results of earlier sessions up to the step at which the run resumes; runs the evaluations that they missed. */
  async begin(run: Run): Promise<void> {
    this.#run = run;
    const found = run.step > 0 ? readValidations(this.#path) : [];
    this.#validations = found.filter(({ step }) => step <= run.step);
    this.#keep();
    const done = new Set(this.#validations.map(({ step }) => step));
    for (let step = 1; step <= run.step; step++) {
      const checkpoint = join(this.#options.dir, "checkpoints", checkpointName(step));
      if (this.#isDue(step) && !done.has(step) && existsSync(checkpoint)) {
        this.#options.say(`evaluating ${basename(checkpoint)}, which the last session did not reach`);
        await this.#begin(step, () => run.pin(checkpoint));
        await this.#running;
      }
    }
  }

  /**
   * Hooks for a run that evaluates during training: save and evaluate the steps that are due, and also call the hooks
   * `others`.
   */
  afterStep(others: RunHooks["afterStep"]): NonNullable<RunHooks["afterStep"]> {
    return async (record) => {
      const wish = await others?.(record);
      const step = this.#run!.step;
      if (!this.#isDue(step)) return wish;
      this.#awaited = `the evaluation that precedes the one of step ${step}`;
      await this.#running;
      this.#awaited = `a copy of step ${step}'s weights, to be evaluated`;
      this.#keep(step);
      await this.#begin(step, () => this.#run!.pin());
      this.#awaited = undefined;
      return wish ?? "checkpoint";
    };
  }

  /** Describes the work that `afterStep` is awaiting; undefined if none. */
  get doing(): string | undefined {
    return this.#awaited;
  }

  /** Resolves once the evaluation in progress has ended. */
  settled(): Promise<void> {
    return this.#running;
  }

  /**
   * Adds an evaluation's result. The last step is also a candidate for the best; its results are those of the final
   * evaluation.
   */
  add(validation: Validation): void {
    const others = this.#validations.filter(({ step }) => step !== validation.step);
    this.#validations = [...others, validation].sort((a, b) => a.step - b.step);
    writeValidations(this.#path, this.#validations);
    this.#keep();
  }

  get validations(): readonly Validation[] {
    return this.#validations;
  }

  get selection(): Selection | undefined {
    return select(this.#validations);
  }

  /** False for the last step, which is evaluated after training. */
  #isDue(step: number): boolean {
    const { evaluation, training } = this.#run!.recipe;
    const { everySteps, fromStep } = evaluation;
    return everySteps > 0 && step >= fromStep && step % everySteps === 0 && step < training.steps;
  }

  /** Keeps the best checkpoints and those that still wait for their evaluation; removes the others. */
  #keep(...waiting: readonly number[]): void {
    const best = rank(this.#validations).slice(0, this.#run!.recipe.checkpoint.keepBest);
    this.#run!.keepCheckpoints([...best.map(({ step }) => step), ...waiting]);
  }

  /** Resolves when the weights are pinned; the evaluation continues. Its errors are reported and do not end training. */
  async #begin(step: number, pin: () => Promise<PinnedPolicy>): Promise<void> {
    const { say, signal } = this.#options;
    const warn = (error: unknown) => {
      if (!signal?.aborted) say(`warning: step ${step} is not evaluated: ${(error as Error).message}`);
    };
    await pin().then((policy) => {
      this.#running = this.#evaluate(policy, step).catch(warn);
    }, warn);
  }

  async #evaluate(pinned: PinnedPolicy, step: number): Promise<void> {
    await using policy = pinned;
    const validation = await validate(policy, step, this.#options);
    this.add(validation);
    const { score, standardError } = rank(this.#validations).find((one) => one.step === step)!;
    this.#run!.evaluated({ step, score, seconds: validation.seconds, tokens: validation.tokens });
    const best = this.selection!.best.step === step ? ", the best so far" : "";
    this.#options.say(`step ${step}: held-out mean ${score.toFixed(3)} ± ${standardError.toFixed(3)}${best}`);
  }
}

/** Evaluates the held-out problems under every setting of the recipe. Throws HONE_ERR_VERIFIER if a domain got no verdict. */
async function validate(
  policy: PinnedPolicy,
  step: number,
  { signal, record }: Pick<SessionValidationOptions, "signal" | "record">,
): Promise<Validation> {
  const { settings, problemsPerDomain, attempts, maxTokens } = policy.recipe.evaluation;
  const begun = performance.now();
  const boards: Scoreboard[] = [];
  let tokens = 0;
  let problems: Validation["problems"] = [];
  const unscored = new UnscoredAnswers(policy);
  for (const setting of settings) {
    const when = { when: "validation", step, version: policy.version } as const;
    const kept = boards.length === 0 ? record?.begin(when) : undefined;
    const asked = { problemsPerDomain, attempts, maxTokens };
    const plan = { ...setting, ...asked, onUnscored: unscored.note, onAnswers: kept?.note };
    const results = await evaluate(policy, signal ? { ...plan, signal } : plan);
    const board = scoreboard(results, { ...setting, version: policy.version });
    // A mean over fewer domains is not comparable: the missing ones may be the harder ones.
    unscored.expectEach(board);
    boards.push(board);
    kept?.end();
    tokens += results.flatMap((result) => result.tokens).reduce((sum, n) => sum + n, 0);
    if (boards.length === 1) problems = problemScores(results);
  }
  return {
    step,
    version: policy.version,
    seconds: (performance.now() - begun) / 1000,
    tokens,
    boards,
    problems,
  };
}
