/** Messages between server and page. Types only, since the page's own check reads them too. */
import type {
  ControlAction,
  ControlOutcome,
  PipelineStatus,
  ProcessEnd,
} from "../metrics/pipeline-status.ts";
import type { StepRecord } from "../records.ts";
import type { HeldOutChange } from "../report/held-out-change.ts";
import type { RunSummary } from "../report/summary.ts";
import type { ComparedRuns, ResultDifference } from "../runs/diff.ts";
import type { BeforeAfter, BeforeAfterProblem } from "../samples/before-after.ts";
import type { Hint } from "../samples/hints/hint.ts";
import type { NamedProblem, Taking } from "../samples/problems.ts";
import type { Sample, WholeSample } from "../samples/sample.ts";
import type { FoundGroups, SampleGroup } from "../samples/sample-groups.ts";

export type {
  ControlAction,
  ControlOutcome,
  NamedProblem,
  PipelineStatus,
  ProcessEnd,
  ResultDifference,
  Sample,
  SampleGroup,
  StepRecord,
  Taking,
};

/** An event at a step, for the charts: the start of a session or a phase, a checkpoint, a request. */
export interface Mark {
  readonly kind: "resume" | "checkpoint" | "evaluation" | "phase" | "pause" | "control" | "warning";
  /**
   * Number of finished steps when the event happened or ended; for an evaluation, the step of its weights.
   */
  readonly step: number;
  /** For an event with a duration: the number of finished steps when the event began. */
  readonly from?: number | undefined;
  readonly text: string;
  /** Milliseconds since 1970, if the log has it. */
  readonly atMs?: number | undefined;
}

/**
 * "running" while the process writes line.json; "silent" if it stopped doing so; "killed" if it is gone; "finishing"
 * when training is over and the process still evaluates or writes its report.
 */
export type RunState =
  | "running"
  | "paused"
  | "stopping"
  | "silent"
  | "killed"
  | "finishing"
  | "done"
  | "stopped"
  | "failed"
  | "unfinished";

/** Range of steps, `from` to `to`, whose rollouts a run folder keeps. */
export interface RecordedRange {
  readonly from: number;
  readonly to: number;
  readonly bytes: number;
}

/** A run as the page lists it. */
export interface RunInfo {
  /** Index in the list, fixed for the server's lifetime. */
  readonly run: number;
  readonly name: string;
  readonly dir: string;
  readonly state: RunState;
  readonly startedAt: string;
  readonly seeds: Readonly<Record<string, number | string>>;
  /** Number of steps in the run's log, and in its recipe if that is known. */
  readonly rows: number;
  readonly steps?: number | undefined;
  readonly domains: readonly string[];
  /** Names of all metrics that any step of the run has. */
  readonly names: readonly string[];
  readonly marks: readonly Mark[];
  readonly status?: PipelineStatus | undefined;
  /** True if summary.json exists. */
  readonly summary: boolean;
  /** True if the run keeps its completions (verdicts.jsonl). */
  readonly journal: boolean;
  /** Steps whose rollouts are in the run's folder, and their bytes; absent if there are none. */
  readonly recorded?: RecordedRange | undefined;
  /** Number of lines of the run's log that could not be read. */
  readonly damaged: number;
}

/** `/api/overview` */
export interface Overview {
  readonly runs: readonly RunInfo[];
  /** Metrics `time/<stage>` that add up to `time/step`, in their order. */
  readonly stages: readonly string[];
  /** Cursor at which the stream of events continues: `/api/events?from=`. */
  readonly cursor: string;
}

/** `/api/series?run=0&name=a&name=b`: values in the order of `steps`, null for a step without one. */
export interface SeriesAnswer {
  readonly steps: readonly number[];
  readonly versions: readonly number[];
  readonly series: Readonly<Record<string, readonly (number | null)[]>>;
}

/** `/api/guide`: a row of docs/reference/metrics.md. */
export interface GuideRow {
  /** Name with placeholders: `success/<domain>`. */
  readonly name: string;
  readonly definition: string;
  readonly unit: string;
  readonly section: string;
}

/** `/api/samples?run=0&steps=1..9&domain=math&...` */
export interface SamplesAnswer {
  /** Number of samples that pass the filter; `samples` has those of the requested page, each with an excerpt. */
  readonly total: number;
  readonly samples: readonly (Sample & { readonly excerpt: string })[];
}

/** `/api/groups?run=0&status=wrong&...`: the same conditions as for samples, one row per group. */
export type GroupsAnswer = FoundGroups;

/** `/api/sample?run=0&row=0`: texts without control characters, only both ends of long ones. */
export interface ShownSample extends Omit<WholeSample, "text" | "reference"> {
  readonly reference: string;
}

/** `/api/summary?run=0` */
export interface ShownSummary extends RunSummary {
  readonly notes: readonly string[];
  /**
   * Change of the mean held-out score by training, under one of the sampling settings; absent without a score
   * after training.
   */
  readonly headline?: { readonly setting: number; readonly change: HeldOutChange };
}

/** `/api/comparison?run=0&run=1`: runs compared with the first of them. */
export interface ComparisonAnswer extends ComparedRuns {
  /** Number of fields in which the recipes differ; `recipe` has the first of these fields. */
  readonly fields: number;
}

/** A row of `/api/verifiers?run=0`, over all steps. Fields that an older version's log lacks are absent. */
export interface VerifierRow {
  readonly name: string;
  /** Completions judged: all, correct, partial, and unscored. */
  readonly judged?: number;
  readonly correct?: number;
  readonly partial?: number;
  readonly unscored?: number;
  /** Calls that returned. */
  readonly calls?: number;
  readonly retries?: number;
  readonly timeouts?: number;
  readonly crashes?: number;
  /** Mean time of the calls that returned. */
  readonly meanMs?: number;
  /** Values within the log's last session. */
  readonly p95Ms?: number;
}

/** `/api/problems?run=0&kind=never&order=most` */
export interface ProblemsAnswer {
  readonly total: number;
  readonly problems: readonly NamedProblem[];
}

/** `/api/problem?run=0&domain=math&problem=7` */
export interface ProblemAnswer {
  readonly takings: readonly Taking[];
}

/** `/api/before-after?run=0&kind=gained&at=300`: held-out problems at the first evaluation and at a later one. */
export interface BeforeAfterAnswer extends Omit<BeforeAfter, "problems"> {
  readonly problems: readonly (Omit<BeforeAfterProblem, "reference"> & { readonly reference: string })[];
}

/** A row of `/api/hints?run=0`. */
export interface ShownHint extends Omit<Hint, "rows" | "quotes"> {
  readonly quotes: readonly (readonly [name: string, text: string])[];
  readonly samples: readonly Sample[];
}

/** The embedded answers of a static report. */
export interface StaticReport {
  readonly overview: Overview;
  readonly series: SeriesAnswer;
  /** Answers by question. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Samples for a static report; absent if the run has judged no completion. */
  readonly samples?: ReportSamples;
}

/** Completions that a static report keeps. */
export interface ReportSamples {
  /** Number of completions of the run. */
  readonly of: number;
  readonly samples: SamplesAnswer["samples"];
  /** Groups to which the kept completions belong; `rows` lists the kept completions only. */
  readonly groups: readonly SampleGroup[];
  /** Completions by row. */
  readonly shown: Readonly<Record<number, ShownSample>>;
}

/** Events of the stream `/api/events`. */
export interface StreamEvents {
  step: { readonly run: number; readonly record: StepRecord };
  run: RunInfo;
  line: { readonly run: number; readonly status: PipelineStatus };
  /** Tells the page that its data is stale, so that it loads everything again. */
  reset: Record<string, never>;
}
