import type { DatasetReport } from "../data/index.ts";
import type { Play } from "../episodes/index.ts";
import type { Problem } from "../records.ts";
import { contentHash } from "../shared/files/content-hash.ts";

/**
 * `correct`: the fraction of answers that are right. `score`: the mean of the verdicts' scores, which include
 * partial credit.
 */
export type Metric = "correct" | "score";

/** Problems of a suite, how a model is asked, and how its answers are counted. */
export interface Suite {
  readonly name: string;
  /** Which number counts as the suite's accuracy. */
  readonly metric: Metric;
  /** Number of problems. The first of them are a sample of all. */
  readonly count: number;
  /** The index-th problem; its `family` is the subject, and its id depends on its content alone. */
  problem(index: number): Problem;
  /** Names of the difficulty levels, easiest first; empty if the set has none. */
  readonly levels: readonly string[];
  /** The answer of a completion in canonical spelling, so that equal ones vote together; undefined if there is none. */
  readonly answer?: ((completion: string) => string | undefined) | undefined;
  /** The environment in which its problems are played over several turns, and which judges them. */
  readonly play?: Play | undefined;
  /** The suite's own verifiers: name to the URL of a module. */
  readonly modules: Readonly<Record<string, string>>;
  /** Names of environment variables that the suite's verifier modules receive. */
  readonly env?: readonly string[];
  /** Report on the rows from which it was read. */
  readonly report?: DatasetReport | undefined;
}

/**
 * Identifies a problem by its question and its judging, regardless of its source. Its first 32 bits are the problem's
 * id, which keys the sampling: two problems of a suite with equal ids (one pair in 2^32) share their random numbers,
 * and nothing else.
 */
export function problemKey(problem: Omit<Problem, "id">): string {
  const known = KEYS.get(problem);
  if (known !== undefined) return known;
  const { question, messages, tools, verifier, reference } = problem;
  const key = contentHash(
    verifier,
    question,
    JSON.stringify([messages ?? null, tools ?? null, reference ?? null]),
  );
  KEYS.set(problem, key);
  return key;
}

/** Cached keys: a key is needed for each draw. */
const KEYS = new WeakMap<object, string>();

/** The problem with the id of its content. */
export function named(problem: Omit<Problem, "id">): Problem {
  return { ...problem, id: Number.parseInt(problemKey(problem).slice(0, 8), 16) };
}
