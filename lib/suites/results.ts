import type { ScoredVerdict } from "../records.ts";
import type { EvaluationRecord, KeptCompletion, SuiteLine } from "./record.ts";
import { drawKey, readManifest, readRecord } from "./record.ts";
import { type Judged, type JudgedProblem, type Measures, measure } from "./statistics/measures.ts";
import type { Metric } from "./suite.ts";

/** Problems and completions that no number of a suite includes. */
export interface SuiteGaps {
  readonly suite: string;
  /** Missing completions: not asked yet, or unanswerable. */
  readonly absent: number;
  /** Completions that got no verdict, by cause; tried again at the next start. */
  readonly unscored: Readonly<Record<string, number>>;
  /** Problems that could not be asked, by reason. */
  readonly unasked: Readonly<Record<string, number>>;
}

/** Measurements of a suite, and its gaps. */
export interface SuiteResult extends Measures, SuiteGaps {
  readonly metric: Metric;
  readonly attempts: number;
}

/** Results of an evaluation, as results.json has them. */
export interface EvaluationResults {
  readonly schema: 1;
  readonly model: string;
  /** Suites with at least one verdict; those without are in `empty`, with the reasons. */
  readonly suites: readonly SuiteResult[];
  readonly empty: readonly SuiteGaps[];
  /** Draws of this session that got no answer, by reason. */
  readonly outages: Readonly<Record<string, number>>;
}

/** Results of the completions that the record has so far. */
export function resultsOf(
  record: EvaluationRecord,
  { model, outages = new Map() }: { readonly model: string; readonly outages?: ReadonlyMap<string, number> },
): EvaluationResults {
  const lines = [...record.suites.values()];
  const found = lines.map((line) => ({ line, ...judgedOf(record, line) }));
  const [some, none] = [true, false].map((is) => found.filter(({ problems }) => problems.length > 0 === is));
  return {
    schema: 1,
    model,
    suites: some!.map(({ line, problems, absent, unscored }) => {
      const { suite, metric, attempts, unasked } = line;
      const judged = problems.map(({ problem }) => problem);
      return { suite, metric, attempts, absent, unscored, unasked, ...measure(judged, line) };
    }),
    empty: none!.map(({ line: { suite, unasked }, absent, unscored }) => ({
      suite,
      absent,
      unscored,
      unasked,
    })),
    outages: Object.fromEntries(outages),
  };
}

export interface KeyedProblem {
  readonly key: string;
  readonly problem: JudgedProblem;
}

/** The problems of a suite's latest version, with their verdicts. */
export function judgedOf(
  record: EvaluationRecord,
  { problems, seeds, attempts, tellsAnswers }: SuiteLine,
): {
  readonly problems: readonly KeyedProblem[];
  readonly absent: number;
  readonly unscored: Record<string, number>;
} {
  const unscored: Record<string, number> = {};
  let absent = 0;
  const judged = problems.flatMap((key) => {
    const answers: Judged[] = [];
    for (const { seed, completion } of drawnCompletions(record, { seeds, attempts }, key)) {
      const verdict = completion?.verdict;
      if (completion === undefined || verdict === undefined) absent += 1;
      else if (verdict.status === "unscored") unscored[verdict.cause] = (unscored[verdict.cause] ?? 0) + 1;
      else answers.push(judgedAnswer(seed, completion, verdict, tellsAnswers));
    }
    if (answers.length === 0) return [];
    const { family: subject, level } = record.problems.get(key)!;
    return [{ key, problem: { subject, level, answers } }];
  });
  return { problems: judged, absent, unscored };
}

/** The completion of each draw of a problem, if present. */
export function* drawnCompletions(
  record: EvaluationRecord,
  { seeds, attempts }: Pick<SuiteLine, "seeds" | "attempts">,
  problem: string,
): Generator<{ readonly seed: number; readonly completion: KeptCompletion | undefined }> {
  for (const seed of seeds) {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const completion = record.completions.get(record.draws.get(drawKey(problem, attempt, seed)) ?? "");
      yield { seed, completion };
    }
  }
}

function judgedAnswer(
  seed: number,
  { tokens, finish, answer }: KeptCompletion,
  { status, score }: ScoredVerdict,
  tellsAnswers: boolean,
): Judged {
  const correct = status === "correct";
  const missing = status === "no_answer" || (tellsAnswers && answer === undefined && !correct);
  return { seed, correct, score, tokens, truncated: finish === "length", missing, answer };
}

/** The results of an evaluation's folder, finished or not. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export function readResults(dir: string): EvaluationResults {
  return resultsOf(readRecord(dir), { model: readManifest(dir).model });
}
