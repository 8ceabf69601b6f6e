import { type ModelFolders, pooledSuites, poolSuite, readModel } from "./model-folders.ts";
import { measure } from "./statistics/measures.ts";

/** One suite in a model's row. */
export interface SummaryCell {
  readonly suite: string;
  readonly problems: number;
  /** Seed-level accuracies that mean and deviation are over: decoding seeds times folders. */
  readonly seeds: number;
  readonly accuracy: number;
  /** Sample standard deviation (n - 1) over all seed-level accuracies; absent for one. */
  readonly deviation?: number | undefined;
  /** Mean tokens of an answer, thinking included. */
  readonly tokens: number;
  /**
   * Number of problems that no number includes, because only some of the model's folders have a verdict on
   * them.
   */
  readonly partial: number;
}

/** A model's row, as in Apriel-Reasoner's table 2. */
export interface ModelSummary {
  readonly name: string;
  readonly folders: number;
  readonly suites: readonly SummaryCell[];
}

/**
 * A model's accuracies and lengths over all of its folders: with two training runs and ten decoding seeds each, mean
 * and spread of twenty accuracies. Omits suites that are not in all folders.
 * Throws HONE_ERR_IO, HONE_ERR_FORMAT, HONE_ERR_USAGE. Source: Apriel-Reasoner, table 2.
 */
export function summarizeModel(folders: string | ModelFolders): ModelSummary {
  const model = readModel(folders);
  const suites = pooledSuites(model).flatMap((suite): SummaryCell[] => {
    const { metric, problems, partial } = poolSuite(model, suite);
    if (problems.length === 0) return [];
    const measures = measure(
      problems.map(({ problem }) => problem),
      { metric, levels: [] },
    );
    const { accuracy, deviation, meanTokens: tokens } = measures;
    return [
      {
        suite,
        problems: problems.length,
        seeds: measures.seeds.length,
        accuracy,
        deviation,
        tokens,
        partial,
      },
    ];
  });
  return { name: model.name, folders: model.dirs.length, suites };
}
