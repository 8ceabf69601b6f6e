import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { evaluate, type Scoreboard, scoreboard } from "../evaluation/index.ts";
import { RUN_FILES, RunDigest, readJson, writeWhole } from "../metrics/index.ts";
import {
  BEFORE_FILE,
  createRun,
  type PinnedPolicy,
  type Run,
  type RunHooks,
  type RunOptions,
  type RunOutcome,
} from "../orchestration/index.ts";
import type { Problem } from "../records.ts";
import { beforeAfterText, Progress, type RunSummary, type Terminal, writeReport } from "../report/index.ts";

export interface SessionOptions {
  readonly dir: string;
  readonly resume?: RunOptions["resume"];
  readonly overwrite?: boolean;
  readonly startFrom?: string;
  readonly signal?: AbortSignal;
  /** Default: process.stdout. */
  readonly terminal?: Terminal;
  /** More to do with the policy training starts from and with the one it ends at. */
  readonly onPolicy?: (when: "before" | "after", policy: PinnedPolicy) => Promise<void>;
  /** More for summary.json. */
  readonly extra?: () => Partial<RunSummary>;
  /** Leave the closing table out. */
  readonly quiet?: boolean;
  /** As for a run; `beforeTraining` is called once the evaluation before is through. */
  readonly hooks?: RunHooks;
  readonly core?: RunOptions["core"];
  readonly verifiers?: RunOptions["verifiers"];
}

export interface SessionResult {
  readonly outcome: RunOutcome;
  readonly summary: RunSummary;
  /** Where it is; undefined if it could not be written, which ends nothing. */
  readonly report: string | undefined;
  /** The signal came before the closing evaluation was through: `--resume` does the rest. */
  readonly interrupted: boolean;
}

/**
 * A whole training session for people: warm start, evaluation on held-out problems, training, evaluation again;
 * progress on the terminal, the before/after table at the end, summary.json and report.html in the folder.
 */
export async function trainAndEvaluate(recipe: Recipe, options: SessionOptions): Promise<SessionResult> {
  const session = new Session(recipe, options);
  try {
    return await session.run();
  } finally {
    session.close();
  }
}

class Session {
  readonly progress: Progress;
  readonly #recipe: Recipe;
  readonly #options: SessionOptions;
  readonly #terminal: Terminal;
  readonly #startedAt = new Date().toISOString();
  /** The display has failed, and somebody was told. */
  #blind = false;
  #before: Scoreboard[] = [];
  #after: Scoreboard[] = [];
  readonly #seconds = { before: 0, after: 0 };

  constructor(recipe: Recipe, options: SessionOptions) {
    this.#recipe = recipe;
    this.#options = options;
    this.#terminal = options.terminal ?? process.stdout;
    this.progress = new Progress({
      title: `${recipe.name}, seed ${recipe.seed}`,
      domains: Object.keys(recipe.domains),
      terminal: this.#terminal,
    });
  }

  async run(): Promise<SessionResult> {
    const { dir, resume, overwrite, startFrom, signal, core, verifiers, hooks } = this.#options;
    await using run = await createRun(this.#recipe, {
      dir,
      ...(resume !== undefined && { resume }),
      ...(overwrite !== undefined && { overwrite }),
      ...(startFrom !== undefined && { startFrom }),
      ...(signal && { signal }),
      ...(core && { core }),
      ...(verifiers && { verifiers }),
      hooks: {
        ...hooks,
        beforeTraining: async (begun) => {
          await this.#lookBefore(begun);
          await hooks?.beforeTraining?.(begun);
        },
      },
    });
    this.#show(run);
    const outcome = await run.finished;
    this.#display(() => this.progress.endPhase());
    const failure = outcome.reason === "done" ? await this.#lookAfter(run) : undefined;
    const interrupted = signal?.aborted === true && (outcome.reason !== "done" || this.#after.length === 0);
    const summary = this.#summary(run, { ...outcome, reason: interrupted ? "aborted" : outcome.reason });
    writeWhole(join(dir, RUN_FILES.summary), `${JSON.stringify(summary, null, 2)}\n`);
    const report = this.#report();
    this.#display(() => this.progress.endPhase());
    if (!this.#options.quiet) this.#display(() => this.#close(summary, report));
    if (failure !== undefined) throw failure.error;
    return { outcome, summary, report, interrupted };
  }

  /** Training is over and saved: what goes wrong from here on is told at the end, after summary and report. */
  async #lookAfter(run: Run): Promise<{ readonly error: unknown } | undefined> {
    try {
      this.#after = await this.#look(run, "after");
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  #report(): string | undefined {
    try {
      return writeReport(this.#options.dir);
    } catch (error) {
      this.#say(`warning: there is no report: ${(error as Error).message}`);
      return undefined;
    }
  }

  #say(line: string): void {
    this.#display(() => this.progress.say(line));
  }

  /** What the display does, which ends nothing: not even when it throws. */
  #display(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!this.#blind) process.emitWarning(`the display failed, and the run goes on: ${String(error)}`);
      this.#blind = true;
    }
  }

  close(): void {
    this.#display(() => this.progress.close());
  }

  #show(run: Run): void {
    run.on("phase", (name, total) => {
      if (name !== "done") this.progress.phase(name, total);
    });
    run.on("warmStart", ({ step, loss }) => this.progress.advance(step, `loss ${loss.toFixed(3)}`));
    run.on("step", (record) => this.progress.step(record));
    run.on("warning", (message) => this.progress.say(`warning: ${message}`));
  }

  /** Evaluates where training starts; a resumed session has that from the first sitting. */
  async #lookBefore(run: Run): Promise<void> {
    const path = join(this.#options.dir, BEFORE_FILE);
    if (run.step > 0 && existsSync(path)) {
      this.#before = readBefore(path);
      return;
    }
    this.#before = await this.#look(run, "before");
    writeWhole(path, JSON.stringify(this.#before));
  }

  /** Empty when interrupted: half an evaluation says nothing. */
  async #look(run: Run, when: "before" | "after"): Promise<Scoreboard[]> {
    const begun = performance.now();
    try {
      return await this.#evaluate(run, when);
    } catch (error) {
      if (this.#options.signal?.aborted) return [];
      throw error;
    } finally {
      this.#seconds[when] = (performance.now() - begun) / 1000;
    }
  }

  async #evaluate(run: Run, when: "before" | "after"): Promise<Scoreboard[]> {
    const { settings, problemsPerDomain, attempts } = this.#recipe.evaluation;
    const { signal } = this.#options;
    await using policy = await run.pin();
    const total = settings.length * problemsPerDomain * policy.sources.size;
    this.#display(() => this.progress.phase(`evaluation ${when}`, total));
    const boards: Scoreboard[] = [];
    for (const [i, setting] of settings.entries()) {
      const onProgress = (done: number, of: number) =>
        this.#display(() => this.progress.advance(i * of + done));
      const unscored = new Unscored();
      const plan = { ...setting, problemsPerDomain, attempts, onProgress, onUnscored: unscored.note };
      const results = await evaluate(policy, { ...plan, ...(signal && { signal }) });
      const board = scoreboard(results, { ...setting, version: policy.version });
      for (const line of unscored.told) this.#say(line);
      if (when === "before") unscored.expectEach([...policy.sources.keys()], Object.keys(board.domains));
      boards.push(board);
    }
    await this.#options.onPolicy?.(when, policy);
    return boards;
  }

  #summary(run: Run, outcome: RunOutcome): RunSummary {
    const { warmStart: ws } = this.#recipe;
    const trained = run.trainedTokens;
    const perSecond = (tokens: number) => (run.seconds.training > 0 ? tokens / run.seconds.training : 0);
    return {
      schema: 2,
      name: this.#recipe.name,
      seed: this.#recipe.seed,
      state: outcome.reason === "done" ? "done" : "stopped",
      startedAt: this.#startedAt,
      finishedAt: new Date().toISOString(),
      steps: outcome.steps,
      version: outcome.version,
      ...changedSteps(run.dir),
      before: this.#before,
      after: this.#after,
      seconds: {
        "warm start": run.seconds.warmStart,
        "evaluation before": this.#seconds.before,
        training: run.seconds.training,
        "evaluation after": this.#seconds.after,
      },
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
      tokens: { generated: run.generatedTokens, trained },
      tokensPerSecond: { generated: perSecond(run.generatedTokens), trained: perSecond(trained) },
      ...(ws && ws.steps > 0 && { demonstrations: { wrongAnswers: ws.wrongRate, endless: ws.endlessRate } }),
      ...this.#options.extra?.(),
    };
  }

  #close(summary: RunSummary, report: string | undefined): void {
    const { seconds, tokensPerSecond, peakRssBytes } = summary;
    const phases = Object.entries(seconds).map(([name, s]) => `${name} ${s.toFixed(1)} s`);
    const speed = `${Math.round(tokensPerSecond.generated).toLocaleString("en")} tokens/s generated while training`;
    this.progress.say(
      [
        "",
        ...(this.#after.length > 0
          ? [beforeAfterText(summary, this.progress.style, this.progress.columns), ""]
          : []),
        `${phases.join(", ")}; ${speed}; peak memory ${Math.round(peakRssBytes / 2 ** 20)} MiB`,
        ...unchanged(summary),
        `${summary.state === "done" ? "report" : "stopped; go on with --resume. report"}: ${report ?? "none"}`,
      ].join("\n"),
    );
  }
}

/** What a run says that trained nothing, however long it took. */
function unchanged({ steps, changedSteps }: RunSummary): string[] {
  if (steps === 0 || changedSteps !== 0) return [];
  return [
    `warning: 0 of ${steps} steps changed the weights: no group was kept (metrics dropped/total/<reason>/<domain> say why)`,
  ];
}

/** As the log's last step says; nothing where there is none, or none that can be read: the report says so. */
function changedSteps(dir: string): Pick<RunSummary, "changedSteps"> {
  const log = join(dir, RUN_FILES.log);
  try {
    if (!existsSync(log)) return {};
    const changed = new RunDigest(log, join(dir, RUN_FILES.digest)).last?.metrics["step/changed-total"];
    return changed === undefined ? {} : { changedSteps: changed };
  } catch {
    return {};
  }
}

/** Held-out answers that got no verdict: an outage, which is told and counted and no score. */
class Unscored {
  readonly #domains = new Map<string, { count: number; cause: string }>();

  readonly note = ({ domain, id }: Problem, causes: readonly string[]): void => {
    const before = this.#domains.get(domain);
    const cause = before?.cause ?? `problem ${id}: ${causes[0]}`;
    this.#domains.set(domain, { count: (before?.count ?? 0) + causes.length, cause });
  };

  get told(): string[] {
    return [...this.#domains].map(
      ([domain, { count, cause }]) =>
        `warning: ${count} held-out answer(s) of ${domain} got no verdict and are in no score; the first, to ${cause}`,
    );
  }

  /** Before training: throws HONE_ERR_VERIFIER for a domain of which no answer at all could be judged. */
  expectEach(domains: readonly string[], scored: readonly string[]): void {
    const lost = domains.find((domain) => !scored.includes(domain) && this.#domains.has(domain));
    if (lost === undefined) return;
    const { cause } = this.#domains.get(lost)!;
    throw new HoneError(
      "HONE_ERR_VERIFIER",
      `no held-out answer of ${lost} could be judged; the first, to ${cause}`,
      {
        details: { domain: lost },
        hint: "Repair the verifier; `npx hone check <recipe>` tries every one.",
      },
    );
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
  throw new HoneError("HONE_ERR_FORMAT", `${path}: not the scores from before training`, {
    details: { path },
    hint: "Delete the file: the run goes on, and its table lacks the scores from before.",
  });
}
