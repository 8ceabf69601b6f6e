/** Summary of a finished run: `summary.json` in its folder, read by the report and by users' scripts. */
import type { DomainName } from "../records.ts";

/** One cell row of the before/after table: n completions to held-out prompts. */
export interface Score {
  /** Mean of the verdicts' scores in [0, 1], partial credit included, no length penalty. */
  readonly score: number;
  /** Fraction with status "correct". */
  readonly solveRate: number;
  /** Mean generated tokens. */
  readonly meanTokens: number;
  /** Fraction cut at maxOutputTokens. */
  readonly truncation: number;
  readonly n: number;
  /** Standard error of `score` and of `meanTokens`. */
  readonly standardError: number;
  readonly tokensStandardError?: number | undefined;
}

/** One evaluation on a pinned weight version at one sampling setting. */
export interface EvaluationTable {
  readonly temperature: number;
  readonly topP?: number | undefined;
  readonly version: number;
  readonly domains: Readonly<Record<DomainName, Score>>;
  /** Unweighted mean over the domains. */
  readonly mean: Score;
  /** Optional: by difficulty level over all domains. */
  readonly levels?: Readonly<Record<string, Score>> | undefined;
  /** Scores of validation sets, which no mean includes. */
  readonly sets?: Readonly<Record<string, Score>> | undefined;
}

/** A step that was evaluated on held-out problems: means over the domains under the first sampling setting. */
export interface CandidateRow {
  readonly step: number;
  readonly score: number;
  readonly standardError: number;
  readonly meanTokens: number;
  readonly domains: Readonly<Record<DomainName, number>>;
  /** Cost of evaluating it: wall seconds beside training, and tokens written under all settings. */
  readonly cost: { readonly seconds: number; readonly tokens: number };
}

/** Best step on held-out problems, and its margin. */
export interface SelectionSummary {
  readonly best: Pick<CandidateRow, "step" | "score" | "standardError">;
  /**
   * `behind`: how far the second best step is behind the best on the same problems; `behindError`: standard error of
   * that difference.
   */
  readonly runnerUp?:
    | (Pick<CandidateRow, "step" | "score" | "standardError"> & {
        readonly behind: number;
        readonly behindError: number;
      })
    | undefined;
  /** Candidates by step. */
  readonly candidates: readonly CandidateRow[];
}

/** Deliberate errors of demonstrations: shares of the answers, and of an expert's messages in episodes. */
export interface Imperfections {
  readonly wrongAnswers?: number;
  readonly endless?: number;
  readonly careless?: number;
}

/** Summary of a run: the contents of summary.json. */
export interface RunSummary {
  readonly schema: 2;
  readonly name: string;
  readonly seed: number;
  readonly state: "done" | "stopped" | "failed";
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly steps: number;
  readonly version: number;
  /** Number of steps that changed the weights. */
  readonly changedSteps?: number | undefined;
  /** Same sampling settings in the same order on both sides; T=1 first. */
  readonly before: readonly EvaluationTable[];
  readonly after: readonly EvaluationTable[];
  /** Wall seconds per phase in order of occurrence, e.g. "warm start", "evaluation", "training". */
  readonly seconds: Readonly<Record<string, number>>;
  /** Present if steps were evaluated while training. */
  readonly selection?: SelectionSummary | undefined;
  readonly peakRssBytes: number;
  readonly tokens: { readonly generated: number; readonly trained: number };
  /** Over the training phase, generation and training together. */
  readonly tokensPerSecond: { readonly generated: number; readonly trained: number };
  /** Fields of the recipe that decide what a run learns and were left out, with the values that they had. */
  readonly defaults?: Readonly<Record<string, string | number>> | undefined;
  /** Set when the warm start learnt from deliberately imperfect demonstrations; fractions in [0, 1]. */
  readonly demonstrations?: Imperfections | undefined;
}
