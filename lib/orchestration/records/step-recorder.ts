import type { Clock } from "../../clock.ts";
import type { Recipe } from "../../config/index.ts";
import {
  collectStepMetrics,
  type EngineFacts,
  type EvaluationFacts,
  MetricsHistory,
  type StepFacts,
  type StepTiming,
  type VerifierFacts,
} from "../../metrics/index.ts";
import type { EngineStats } from "../../native/face.ts";
import type { DomainName, StepRecord } from "../../records.ts";
import type { VerifierStats } from "../../rewards/index.ts";
import type { Line, PolicyUpdate, StepOutcome } from "../line/index.ts";

export interface FactSources {
  readonly recipe: Recipe;
  readonly line: Line;
  readonly engineStats: () => EngineStats;
  readonly verifierStats: () => Readonly<Record<string, VerifierStats>>;
  /** How far the trackers are. */
  readonly deliveries?: () => StepFacts["trackers"];
  readonly clock: Clock;
}

/** Seconds from the end of a step to the moment the next batch is asked for. */
export type BetweenSteps = Pick<StepTiming, "logging" | "checkpointing" | "checkpoint">;

/** Turns outcomes into records: gathers what the stages counted since the last step and hands it to `metrics`. */
export class StepRecorder {
  readonly #from: FactSources;
  readonly #history: MetricsHistory;
  readonly #startedMs: number;
  #engine: EngineStats;
  #verifiers: Readonly<Record<string, VerifierStats>>;
  #recording = 0;

  constructor(from: FactSources, history: unknown) {
    this.#from = from;
    this.#history = new MetricsHistory((history ?? {}) as Partial<MetricsHistory>);
    this.#startedMs = from.clock.now();
    this.#engine = from.engineStats();
    this.#verifiers = from.verifierStats();
  }

  /** For the checkpoint. */
  get history(): unknown {
    return { ...this.#history };
  }

  /**
   * The facts at the moment a step ends, to be recorded later: the counters move on.
   * @param before seconds between the last step and this one, which count to this one.
   * @param evaluation one that has ended since the last step.
   */
  gather(
    { step, version, versionBefore, batch, update, timing }: StepOutcome,
    before: BetweenSteps,
    evaluation?: EvaluationFacts,
  ): StepFacts {
    const { recipe, line, clock } = this.#from;
    const { free, total } = line.books.credits;
    return {
      step: step + 1,
      version,
      elapsedSeconds: (clock.now() - this.#startedMs) / 1000,
      maxOutputTokens: recipe.rollouts.maxOutputTokens,
      groups: batch.groups.map(({ group }) => group),
      unscored: unscoredByDomain(batch.groups),
      update: update && updateFacts(update, versionBefore, recipe),
      timing: { ...timing, ...before, recording: this.#recording },
      engine: this.#engineFacts(),
      mixture: line.books.mixture(),
      verifiers: this.#verifierFacts(),
      verifierWorkers: recipe.verification.workers,
      queues: line.queues(),
      leftOut: line.leftOut,
      credits: { free, total },
      rssBytes: process.memoryUsage.rss(),
      evaluation,
      trackers: this.#from.deliveries?.(),
    };
  }

  /** Facts as a record, in the order they were gathered; `publish` takes it to the sinks. */
  record(facts: StepFacts, publish: (record: StepRecord) => void): void {
    const begun = this.#from.clock.now();
    const metrics = collectStepMetrics(facts, this.#history);
    publish({ step: facts.step, version: facts.version, metrics });
    this.#recording = (this.#from.clock.now() - begun) / 1000;
  }

  #engineFacts(): EngineFacts {
    const now = this.#from.engineStats();
    const then = this.#engine;
    this.#engine = now;
    return {
      steps: now.steps - then.steps,
      prefillTokens: now.prefillTokens - then.prefillTokens,
      decodeTokens: now.decodeTokens - then.decodeTokens,
      preemptions: now.preemptions - then.preemptions,
      weightSwaps: now.weightSwaps - then.weightSwaps,
      busySeconds: now.busySeconds - then.busySeconds,
      prefillSeconds: now.prefillSeconds - then.prefillSeconds,
      decodeSeconds: now.decodeSeconds - then.decodeSeconds,
      weightSwapSeconds: now.weightSwapSeconds - then.weightSwapSeconds,
      pageSwapSeconds: now.pageSwapSeconds - then.pageSwapSeconds,
      running: now.running,
      waiting: now.waiting,
      maxRunning: this.#from.recipe.engine.maxRunning,
      pagesUsed: now.pagesUsed,
      pagesTotal: now.pagesTotal,
      ...(this.#from.recipe.rollouts.recordEveryTokens > 0 && takenUp(now, then)),
    };
  }

  #verifierFacts(): Record<string, VerifierFacts> {
    const now = this.#from.verifierStats();
    const then = this.#verifiers;
    this.#verifiers = now;
    return Object.fromEntries(
      Object.entries(now).map(([name, stats]) => {
        const since = (of: (s: VerifierStats) => number) =>
          of(stats) - (then[name] === undefined ? 0 : of(then[name]));
        const { latencyMs } = stats;
        const facts = {
          calls: since((s) => s.calls),
          timeouts: since((s) => s.timeouts),
          crashes: since((s) => s.crashes),
          retries: since((s) => s.retries),
          judged: since((s) => s.judged),
          correct: since((s) => s.correct),
          partial: since((s) => s.partial),
          unscored: since((s) => s.unscored),
          totalSeconds: since((s) => s.totalMs) / 1000,
          busySeconds: since((s) => s.busyMs) / 1000,
        };
        const judge = stats.judge && { judge: judgeFacts(stats.judge, then[name]?.judge) };
        return [name, { ...facts, ...(stats.calls > 0 && { latencyMs }), ...judge }];
      }),
    );
  }
}

type JudgeStats = NonNullable<VerifierStats["judge"]>;

/** What has come since then; a budget is as it is now. */
function judgeFacts(now: JudgeStats, then: JudgeStats | undefined): NonNullable<VerifierFacts["judge"]> {
  const since = (of: Exclude<keyof JudgeStats, "budgetLeft">) => now[of] - (then?.[of] ?? 0);
  return {
    calls: since("calls"),
    cached: since("cached"),
    tokens: since("tokens"),
    unreadable: since("unreadable"),
    compared: since("compared"),
    disagreement: since("disagreement"),
    budgetLeft: now.budgetLeft,
  };
}

function unscoredByDomain(groups: StepOutcome["batch"]["groups"]): Record<DomainName, number> {
  const counts: Record<DomainName, number> = {};
  for (const { request, unscored } of groups)
    counts[request.domain] = (counts[request.domain] ?? 0) + unscored.length;
  return counts;
}

function updateFacts(
  update: PolicyUpdate,
  version: number,
  { objective, training }: Recipe,
): StepFacts["update"] {
  const { rollouts, data, report, learningRate, gradients } = update;
  const of = objective.kind === "gspo" ? ("sequence" as const) : ("token" as const);
  const clip = { of, low: objective.clipLow, high: objective.clipHigh };
  // with a correction every ratio that could be clipped is 1; what a custom objective clips only it knows
  const clips =
    objective.kind !== "reinforce" && objective.kind !== "custom" && objective.correction.kind === "none";
  return {
    rollouts,
    batch: data,
    report,
    version,
    learningRate,
    ...(gradients && { gradients }),
    ...(clips && { clip }),
    packingBudget: training.packedTokens,
  };
}

function takenUp(now: EngineStats, then: EngineStats) {
  const since = (field: "takenUp" | "takenUpTokens" | "lostTokens") => (now[field] ?? 0) - (then[field] ?? 0);
  return {
    takenUp: since("takenUp"),
    takenUpTokens: since("takenUpTokens"),
    lostTokens: since("lostTokens"),
  };
}
