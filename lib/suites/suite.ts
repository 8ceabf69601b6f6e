import type { DatasetReport } from "../data/index.ts";
import type { Play } from "../episodes/index.ts";
import type { Problem } from "../records.ts";
import { contentHash } from "../shared/files/content-hash.ts";

/** `correct`: the fraction of answers that are right. `score`: the mean of the verdicts' scores, which counts parts. */
export type Metric = "correct" | "score";

/** Problems of a suite, how a model is asked, and how its answers are counted. */
export interface Suite {
  readonly name: string;
  /** Number that is its accuracy. */
  readonly metric: Metric;
  /** Problems there are, in an order that begins with a sample of them. */
  readonly count: number;
  /** The index-th; its `family` is the subject, and its id is of its content alone. */
  problem(index: number): Problem;
  /** Names of the levels of difficulty, easiest first; empty where the set has none. */
  readonly levels: readonly string[];
  /** The answer that a completion gives, so spelled that equal ones vote together; undefined where it gives none. */
  readonly answer?: ((completion: string) => string | undefined) | undefined;
  /** What its problems are played in over several turns, which then judges them. */
  readonly play?: Play | undefined;
  /** Verifiers of its own: name to the URL of a module. */
  readonly modules: Readonly<Record<string, string>>;
  /** Environment variables that those modules are given. */
  readonly env?: readonly string[];
  /** What became of the rows it was read from. */
  readonly report?: DatasetReport | undefined;
}

/**
 * Names what is asked and how it is judged, wherever it is read from. Its first 32 bits are the problem's id, which keys
 * what is sampled: two problems of a suite that share them (one pair in 2^32) share their random numbers, no more.
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

/** Of problems that were named before: each is asked for once a draw. */
const KEYS = new WeakMap<object, string>();

/** The problem with the id of its content. */
export function named(problem: Omit<Problem, "id">): Problem {
  return { ...problem, id: Number.parseInt(problemKey(problem).slice(0, 8), 16) };
}
