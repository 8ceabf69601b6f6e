import type { Clock } from "../../clock.ts";
import { hasFullKl, type Recipe } from "../../config/index.ts";
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
import { clipRange } from "../../shared/objectives/objective-forms.ts";
import type { Pipeline, PolicyUpdate, StepOutcome } from "../pipeline/index.ts";
import { ProcessorTime } from "./processor-time.ts";

export interface FactSources {
  readonly recipe: Recipe;
  readonly pipeline: Pipeline;
  readonly engineStats: () => EngineStats;
  readonly verifierStats: () => Readonly<Record<string, VerifierStats>>;
  /** Progress of the trackers. */
  readonly deliveries?: () => StepFacts["trackers"];
  /** Ids of the run's other processes. */
  readonly processes?: () => readonly number[];
  readonly clock: Clock;
}

/** Seconds from the end of a step until the next batch is requested. */
export type BetweenSteps = Pick<StepTiming, "logging" | "checkpointing" | "checkpoint">;

/** Turns outcomes into records: gathers what the stages counted since the last step and hands it to `metrics`. */
export class StepRecorder {
  readonly #from: FactSources;
  readonly #history: MetricsHistory;
  readonly #startedMs: number;
  readonly #processors = new ProcessorTime();
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

  /** State for the checkpoint. */
  get history(): unknown {
    return { ...this.#history };
  }

  /**
   * Reads values that are only available when a step has just ended, since the counters advance. The returned
   * function computes the facts later, so that the next step does not wait for it.
   * @param before seconds between the last step and this one, which count to this one
   * @param evaluation an evaluation that ended since the last step
   */
  gather(outcome: StepOutcome, before: BetweenSteps, evaluation?: EvaluationFacts): () => StepFacts {
    const { pipeline, clock, deliveries } = this.#from;
    const { free, total } = pipeline.accounting.credits;
    const moment = {
      elapsedSeconds: (clock.now() - this.#startedMs) / 1000,
      timing: { ...outcome.timing, ...before, recording: this.#recording },
      mixture: pipeline.accounting.mixture(),
      queues: pipeline.queues(),
      leftOut: pipeline.leftOut,
      curricula: pipeline.curricula,
      credits: { free, total },
      verifierWorkers: pipeline.workers,
      evaluation,
      trackers: deliveries?.(),
    };
    const engine = { now: this.#from.engineStats(), earlier: this.#engine };
    const verifiers = { now: this.#from.verifierStats(), earlier: this.#verifiers };
    this.#engine = engine.now;
    this.#verifiers = verifiers.now;
    return () => ({
      ...moment,
      ...outcomeFacts(outcome, this.#from.recipe),
      engine: engineFacts(engine, this.#from.recipe),
      verifiers: verifierFacts(verifiers),
      rssBytes: process.memoryUsage.rss(),
      processorSeconds: this.#processors.since(this.#from.processes?.() ?? []),
    });
  }

  /** Computes records in the order in which facts were gathered; `publish` sends each to the sinks. */
  record(gathered: () => StepFacts, publish: (record: StepRecord) => void): void {
    const begun = this.#from.clock.now();
    const facts = gathered();
    const metrics = collectStepMetrics(facts, this.#history);
    publish({ step: facts.step, version: facts.version, metrics });
    this.#recording = (this.#from.clock.now() - begun) / 1000;
  }
}

/** A set of counters at the end of a step, and at the end of the step before. */
interface Since<Stats> {
  readonly now: Stats;
  readonly earlier: Stats;
}

function outcomeFacts({ step, version, versionBefore, batch, update }: StepOutcome, recipe: Recipe) {
  const replayedAges = batch.replayed?.map(({ first }) => step - first);
  return {
    step: step + 1,
    version,
    maxOutputTokens: recipe.rollouts.maxOutputTokens,
    groups: batch.groups.map(({ group }) => group),
    unscored: unscoredByDomain(batch.groups),
    update: update && updateFacts(update, { version: versionBefore, replayedAges }, recipe),
  };
}

function engineFacts({ now, earlier }: Since<EngineStats>, { engine, rollouts }: Recipe): EngineFacts {
  return {
    steps: now.steps - earlier.steps,
    prefillTokens: now.prefillTokens - earlier.prefillTokens,
    decodeTokens: now.decodeTokens - earlier.decodeTokens,
    preemptions: now.preemptions - earlier.preemptions,
    weightSwaps: now.weightSwaps - earlier.weightSwaps,
    busySeconds: now.busySeconds - earlier.busySeconds,
    prefillSeconds: now.prefillSeconds - earlier.prefillSeconds,
    decodeSeconds: now.decodeSeconds - earlier.decodeSeconds,
    weightSwapSeconds: now.weightSwapSeconds - earlier.weightSwapSeconds,
    pageSwapSeconds: now.pageSwapSeconds - earlier.pageSwapSeconds,
    running: now.running,
    waiting: now.waiting,
    maxRunning: engine.maxRunning,
    pagesUsed: now.pagesUsed,
    pagesTotal: now.pagesTotal,
    ...(rollouts.recordEveryTokens > 0 && takenUp(now, earlier)),
  };
}

function verifierFacts({
  now,
  earlier,
}: Since<Readonly<Record<string, VerifierStats>>>): Record<string, VerifierFacts> {
  return Object.fromEntries(
    Object.entries(now).map(([name, stats]) => {
      const since = (of: (s: VerifierStats) => number) =>
        of(stats) - (earlier[name] === undefined ? 0 : of(earlier[name]));
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
      const judge = stats.judge && { judge: judgeFacts(stats.judge, earlier[name]?.judge) };
      return [name, { ...facts, ...(stats.calls > 0 && { latencyMs }), ...judge }];
    }),
  );
}

type JudgeStats = NonNullable<VerifierStats["judge"]>;

/** Judge statistics since `then`; `budgetLeft` keeps its current value. */
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
  {
    version,
    replayedAges,
  }: { readonly version: number; readonly replayedAges: readonly number[] | undefined },
  { objective, training }: Recipe,
): StepFacts["update"] {
  const { rollouts, data, report, learningRate, entropyCoef, gradients, updates } = update;
  const { referenceSeconds, teacherSeconds, teacherLogprobs } = update;
  // with a correction every ratio of the first update is 1, so ratios are not taken from the report
  const clip =
    objective.correction.kind === "none" || updates !== undefined ? clipRange(objective) : undefined;
  return {
    rollouts,
    batch: data,
    report,
    version,
    learningRate,
    ...(objective.entropyControl && { entropyCoef }),
    referenceSeconds,
    teacherLogprobs,
    teacherSeconds,
    ...(gradients && { gradients }),
    ...(clip && { clip }),
    packingBudget: training.packedTokens,
    ...(updates && { updates, epochs: training.epochs }),
    ...(replayedAges && { replayedAges }),
    ...(hasFullKl(objective) && { divergesFrom: "reference" as const }),
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
