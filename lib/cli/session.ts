import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { evaluates, leftAtDefault, type Recipe } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { HeldOutRecord, type Scoreboard, type Validation } from "../evaluation/index.ts";
import { RUN_FILES, RunDigest, writeWhole } from "../metrics/index.ts";
import {
  createRun,
  expectClaimable,
  type PinnedPolicy,
  type Run,
  type RunHooks,
  type RunOptions,
  type RunOutcome,
} from "../orchestration/index.ts";
import { ownModule } from "../own-module.ts";
import { beforeAfterText, type CandidateRow, type RunSummary, type Terminal } from "../report/index.ts";
import { lockFolder } from "../shared/files/folder-lock.ts";
import { STDOUT } from "../trackers/index.ts";
import { processesOf } from "./run-processes.ts";
import { SessionDisplay, type TerminalLook } from "./session-display.ts";
import { SessionEvaluation } from "./session-evaluation.ts";
import { SessionValidation } from "./session-validation.ts";

/** Options of `trainAndEvaluate`: run folder, display, further work. */
export interface SessionOptions {
  readonly dir: string;
  readonly resume?: RunOptions["resume"];
  readonly overwrite?: boolean;
  readonly startFrom?: string;
  readonly signal?: AbortSignal;
  /** Default: process.stdout, or stderr if a tracker of the recipe writes to stdout. */
  readonly terminal?: Terminal;
  /** Further work with the policy (such as an evaluation), called before and after training. */
  readonly onPolicy?: (when: "before" | "after", policy: PinnedPolicy) => Promise<void>;
  /** Hooks of the run; `beforeTraining` is called after the evaluation before training. */
  readonly hooks?: RunHooks;
  readonly core?: RunOptions["core"];
  readonly verifiers?: RunOptions["verifiers"];
  /** Sinks besides those that the recipe names (docs/how-to/write-a-tracker.md). */
  readonly sinks?: RunOptions["sinks"];
}

/** Result of a session of training and evaluation. */
export interface SessionResult {
  readonly outcome: RunOutcome;
  readonly summary: RunSummary;
  /** Path of the report; undefined if it could not be written, which does not end the session. */
  readonly report: string | undefined;
  /**
   * True if the signal came before the closing evaluation was done; a session with `--resume` does the rest.
   */
  readonly interrupted: boolean;
}

/**
 * A whole training session with its output: warm start, evaluation on held-out problems, training, evaluation
 * again; progress on the terminal, the before/after table at the end, summary.json and report.html in the
 * folder.
 */
export async function trainAndEvaluate(recipe: Recipe, options: SessionOptions): Promise<SessionResult> {
  const session = new Session(recipe, options);
  try {
    return await session.run();
  } finally {
    session.close();
  }
}

const displayOf = (recipe: Recipe, { terminal }: SessionOptions) =>
  new SessionDisplay({
    title: `${recipe.name}, seed ${recipe.seed}`,
    domains: Object.keys(recipe.domains),
    terminal: terminal ?? (takesStdout(recipe) ? process.stderr : process.stdout),
  });

const recordOf = ({ verification }: Recipe, { dir }: SessionOptions): HeldOutRecord | undefined =>
  verification.journal ? new HeldOutRecord(join(dir, RUN_FILES.heldOutCompletions)) : undefined;

class Session {
  readonly #recipe: Recipe;
  readonly #options: SessionOptions;
  readonly #startedAt = new Date().toISOString();
  readonly #display: SessionDisplay;
  readonly #record: HeldOutRecord | undefined;
  readonly #evaluation: SessionEvaluation;
  readonly #validation: SessionValidation;
  /** Description of the work for which training waits before it begins. */
  #doing: string | undefined;

  constructor(recipe: Recipe, options: SessionOptions) {
    this.#recipe = recipe;
    this.#options = options;
    this.#display = displayOf(recipe, options);
    this.#record = recordOf(recipe, options);
    const kept = { ...options, record: this.#record };
    this.#evaluation = new SessionEvaluation(kept, this.#display);
    this.#validation = new SessionValidation({ ...kept, say: (line) => this.#display.say(line) });
  }

  async run(): Promise<SessionResult> {
    const { dir, signal, core } = this.#options;
    const free = () => expectClaimable(this.#options); // a single-process run locks its folder at once
    let held: Disposable | undefined;
    using _ = { [Symbol.dispose]: () => held?.[Symbol.dispose]() }; // disposed last: trackers send until the run and its processes are closed
    await using processes = core === undefined ? await processesOf(this.#recipe, dir, free) : undefined;
    const runOptions = this.#runOptions();
    await using run = await createRun(
      this.#recipe,
      processes === undefined ? runOptions : { ...runOptions, core: processes.core },
    );
    this.#display.follow(run);
    const outcome = await run.finished;
    held = await lockFolder(dir); // takes the folder's lock again, which the run has released: the evaluation that follows writes into the folder and may take as long as training
    await this.#validation.settled();
    this.#display.endPhase();
    const failure = outcome.reason === "done" ? await this.#evaluateAfter(run) : undefined;
    this.#display.endPhase(); // ends the phase before the report is written, whose time is not part of the evaluation
    const isMissing = this.#evaluation.after.length === 0 && evaluates(this.#recipe);
    const cut = outcome.reason !== "done" || isMissing;
    const interrupted = signal?.aborted === true && cut;
    const summary = this.#summary(run, { ...outcome, reason: interrupted ? "aborted" : outcome.reason });
    writeWhole(join(dir, RUN_FILES.summary), `${JSON.stringify(summary, null, 2)}\n`);
    const report = await this.#report();
    this.#display.say((look) => closingText(summary, report, look));
    if (failure !== undefined) throw failure.error;
    return { outcome, summary, report, interrupted };
  }

  close(): void {
    this.#display.close();
    this.#record?.[Symbol.dispose]();
  }

  #runOptions(): RunOptions {
    const { dir, resume, overwrite, startFrom, signal, core, verifiers, hooks, sinks } = this.#options;
    return {
      dir,
      ...(resume !== undefined && { resume }),
      ...(overwrite !== undefined && { overwrite }),
      ...(startFrom !== undefined && { startFrom }),
      ...(signal && { signal }),
      ...(core && { core }),
      ...(verifiers && { verifiers }),
      ...(sinks && { sinks }),
      hooks: {
        ...hooks,
        doing: () => this.#doing ?? this.#validation.doing ?? hooks?.doing?.(),
        beforeTraining: async (begun) => {
          this.#doing = "the evaluation of the initial policy";
          await this.#evaluation.evaluateBefore(begun);
          this.#doing = "evaluations that the last session did not reach";
          await this.#validation.begin(begun);
          this.#doing = undefined;
          await hooks?.beforeTraining?.(begun);
        },
        ...(this.#recipe.evaluation.everySteps > 0 && {
          afterStep: this.#validation.afterStep(hooks?.afterStep),
        }),
      },
    };
  }

  /** Training is finished and saved: an error from here on is reported at the end, after summary and report. */
  async #evaluateAfter(run: Run): Promise<{ readonly error: unknown } | undefined> {
    try {
      await this.#evaluation.evaluateAfter(run);
      this.#addLastStep(run);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  /** Adds the last step as a candidate, if steps are evaluated while training. */
  #addLastStep({ recipe, step }: Run): void {
    const { before, after, problems, seconds } = this.#evaluation;
    if (recipe.evaluation.everySteps === 0 || step === 0 || after.length === 0) return;
    const domains = (board: Scoreboard | undefined) => Object.keys(board?.domains ?? {}).length;
    if (domains(after[0]) < domains(before[0])) return; // a mean over fewer domains is not comparable
    const tokens = after.reduce((sum, { mean }) => sum + mean.meanTokens * mean.n, 0);
    const { version } = after[0]!;
    this.#validation.add({ step, version, seconds: seconds.after, tokens, boards: after, problems });
  }

  async #report(): Promise<string | undefined> {
    try {
      return await reportApart(this.#options.dir);
    } catch (error) {
      this.#display.say(`warning: the report could not be written: ${(error as Error).message}`);
      return undefined;
    }
  }

  #summary(run: Run, outcome: RunOutcome): RunSummary {
    const { warmStart: ws } = this.#recipe;
    const { before, after, seconds } = this.#evaluation;
    const { selection, validations } = this.#validation;
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
      before,
      after,
      seconds: {
        "warm start": run.seconds.warmStart,
        "evaluation before": seconds.before,
        training: run.seconds.training,
        "evaluation after": seconds.after,
      },
      ...(selection && { selection: { ...selection, candidates: validations.map(candidateRow) } }),
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
      tokens: { generated: run.generatedTokens, trained },
      tokensPerSecond: { generated: perSecond(run.generatedTokens), trained: perSecond(trained) },
      defaults: leftAtDefault(this.#recipe),
      ...(ws && ws.steps > 0 && { demonstrations: imperfections(this.#recipe.domains, ws) }),
    };
  }
}

function imperfections(
  domains: Recipe["domains"],
  { mixture, wrongRate, endlessRate }: NonNullable<Recipe["warmStart"]>,
): RunSummary["demonstrations"] {
  const names = Object.keys(mixture);
  const played = names.filter((name) => domains[name]?.environment !== undefined);
  const answers = played.length < names.length && { wrongAnswers: wrongRate, endless: endlessRate };
  const messages = played.length > 0 && wrongRate > 0 && { careless: wrongRate };
  return answers || messages ? { ...answers, ...messages } : undefined;
}

/** True if a tracker writes JSON lines to stdout, which then carries no other output. */
export const takesStdout = ({ trackers }: Pick<Recipe, "trackers">): boolean =>
  trackers.some((tracker) => tracker.kind === "jsonl" && tracker.path === STDOUT);

/** Score and cost of a candidate. */
function candidateRow({ step, boards, seconds, tokens }: Validation): CandidateRow {
  const { mean, domains } = boards[0]!;
  const scores = Object.fromEntries(Object.entries(domains).map(([domain, { score }]) => [domain, score]));
  return {
    step,
    score: mean.score,
    standardError: mean.standardError,
    meanTokens: mean.meanTokens,
    domains: scores,
    cost: { seconds, tokens },
  };
}

/** The before/after table, and the cost of the session. */
function closingText(
  summary: RunSummary,
  report: string | undefined,
  { style, columns }: TerminalLook,
): string {
  const { seconds, tokensPerSecond, peakRssBytes, after, state } = summary;
  const phases = Object.entries(seconds).map(([name, s]) => `${name} ${s.toFixed(1)} s`);
  const speed = `${Math.round(tokensPerSecond.generated).toLocaleString("en")} tokens/s generated while training`;
  return [
    "",
    ...(after.length > 0 ? [beforeAfterText(summary, style, columns), ""] : []),
    ...selectionText(summary),
    `${phases.join(", ")}; ${speed}; peak memory ${Math.round(peakRssBytes / 2 ** 20)} MiB`,
    ...unchanged(summary),
    `${state === "done" ? "report" : "stopped; continue with --resume. report"}: ${report ?? "none"}`,
  ].join("\n");
}

function selectionText({ selection }: RunSummary): string[] {
  if (selection === undefined) return [];
  const { best, runnerUp, candidates } = selection;
  const cost = candidates.reduce((sum, candidate) => sum + candidate.cost.seconds, 0);
  const next =
    runnerUp &&
    `; next is step ${runnerUp.step}, ${runnerUp.behind.toFixed(3)} ± ${runnerUp.behindError.toFixed(3)} behind on the same problems`;
  return [
    `best of ${candidates.length} evaluated steps (${cost.toFixed(1)} s): step ${best.step}, held-out mean ${best.score.toFixed(3)} ± ${best.standardError.toFixed(3)}${next ?? ""}`,
    "",
  ];
}

/** Warns of a run in which no step changed the weights. */
function unchanged({ steps, changedSteps }: RunSummary): string[] {
  if (steps === 0 || changedSteps !== 0) return [];
  return [
    `warning: 0 of ${steps} steps changed the weights: no group was kept whose rewards differ (metrics dropped/total/<reason>/<domain> say why)`,
  ];
}

/**
 * Writes the run's report with `hone report` in a separate process, whose memory does not add to this one's.
 * Ctrl-C does not reach that process: it has its own process group. Throws HONE_ERR_IO with its error output.
 */
async function reportApart(dir: string): Promise<string> {
  const { path, execArgv } = ownModule("main", import.meta.url);
  const words = [...execArgv, path, "report", resolve(dir)];
  const child = spawn(process.execPath, words, { detached: true, stdio: ["ignore", "ignore", "pipe"] });
  const said = text(child.stderr);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (code === 0) return join(dir, RUN_FILES.report);
  const how = (await said).trim() || `the process that writes it ended with ${signal ?? code}`;
  throw new HoneError("HONE_ERR_IO", how, { hint: `\`hone report ${dir}\` writes it.` });
}

/**
 * Number of steps that changed the weights, from the log's last step; empty if the log has none or cannot be
 * read, which the report states.
 */
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
