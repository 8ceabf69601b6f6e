import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HoneError } from "../errors.ts";
import { RUN_FILES } from "../metrics/index.ts";
import { type EvaluationRecord, isEvaluation, readManifest, readRecord } from "./record.ts";
import { judgedOf, type KeyedProblem } from "./results.ts";
import type { Judged } from "./statistics/measures.ts";
import type { Metric } from "./suite.ts";

/** One model of a comparison: evaluations of one training run, or of several that differ in their training seed. */
export interface ModelFolders {
  readonly name: string;
  /** Evaluation folders, at least one. */
  readonly dirs: readonly string[];
}

/** A folder of a model with its record. */
export interface RecordedFolder {
  readonly dir: string;
  readonly record: EvaluationRecord;
}

/** A model with the records of its folders. */
export interface RecordedModel extends ModelFolders {
  readonly folders: readonly RecordedFolder[];
}

const HINT = "Give a folder that hone eval wrote (evals/... unless --out says where), or name=folder,folder.";

const RUN_HINT =
  "`hone diff <a> <b>` compares two runs by recipe and held-out results; `hone eval --model <run>` makes an evaluation of one.";

/**
 * Parses `folder`, `folder,folder` or `name=folder,folder`; a path that is itself an evaluation folder is not split.
 * Throws HONE_ERR_USAGE for a folder that is not an evaluation.
 */
export function modelFolders(text: string): ModelFolders {
  if (isEvaluation(text)) return { name: readManifest(text).model, dirs: [text] };
  const equals = text.indexOf("=");
  const dirs = text.slice(equals + 1).split(",");
  for (const dir of dirs) if (!isEvaluation(dir)) throw noEvaluation(dir, text);
  const repeated = dirs.find((dir, i) => dirs.indexOf(dir) !== i);
  if (repeated !== undefined)
    throw new HoneError("HONE_ERR_USAGE", `${repeated} appears twice in ${text}`, {
      hint: "Pool folders of different training runs, each of them once.",
    });
  const own = readManifest(dirs[0]!).model;
  const name =
    equals > 0 ? text.slice(0, equals) : dirs.length === 1 ? own : `${own} and ${dirs.length - 1} more`;
  return { name, dirs };
}

function noEvaluation(dir: string, text: string): HoneError {
  const isRun = dir !== "" && existsSync(join(dir, RUN_FILES.manifest));
  const [what, hint] = isRun
    ? ["is the folder of a run, not of an evaluation", RUN_HINT]
    : ["is not an evaluation folder", HINT];
  return new HoneError("HONE_ERR_USAGE", `${dir || text} ${what}`, { hint });
}

/**
 * Reads all of a model's folders. Throws HONE_ERR_IO, HONE_ERR_FORMAT; HONE_ERR_USAGE if folders were sampled
 * differently, since their accuracies do not estimate the same quantity.
 */
export function readModel(model: string | ModelFolders): RecordedModel {
  const { name, dirs } = typeof model === "string" ? modelFolders(model) : model;
  for (const dir of dirs.slice(1)) expectSameSampling(dirs[0]!, dir);
  return { name, dirs, folders: dirs.map((dir) => ({ dir, record: readRecord(dir) })) };
}

/** Fields of an evaluation's identity that say which model answered; pooled trainings differ in them. */
const OF_THE_MODEL = new Set(["weights", "endpoint", "model"]);

function expectSameSampling(first: string, other: string): void {
  const [a, b] = [first, other].map((dir) => readManifest(dir).identity);
  const names = [...new Set([...Object.keys(a!), ...Object.keys(b!)])];
  const differs = names.find((name) => !OF_THE_MODEL.has(name) && !isDeepStrictEqual(a![name], b![name]));
  if (differs === undefined) return;
  const [was, is] = [a, b].map((identity) => JSON.stringify(identity![differs]));
  throw new HoneError(
    "HONE_ERR_USAGE",
    `${first} and ${other} cannot be pooled: ${differs} is ${was} in the first and ${is} in the second`,
    { hint: "Pool evaluations that were sampled alike, or compare them one by one." },
  );
}

/** A suite as all folders of a model answered it. */
export interface PooledSuite {
  readonly metric: Metric;
  /** Problems with verdicts in every folder, with all answers; each decoding seed of each folder is a separate seed. */
  readonly problems: readonly KeyedProblem[];
  /** Problems that only some folders have a verdict on. */
  readonly partial: number;
}

/** Decoding seeds are 32-bit; the folder's index is added above them so that seeds of two folders differ. */
const SEEDS_A_FOLDER = 2 ** 32;

/** Names of the suites that every folder of a model was asked, in the order of the first. */
export function pooledSuites({ folders }: RecordedModel): string[] {
  return [...folders[0]!.record.suites.keys()].filter((suite) =>
    folders.every(({ record }) => record.suites.has(suite)),
  );
}

/** Trusts that every folder has the suite. Throws HONE_ERR_USAGE if they use different metrics. */
export function poolSuite({ name, folders }: RecordedModel, suite: string): PooledSuite {
  const metrics = new Set(folders.map(({ record }) => record.suites.get(suite)!.metric));
  if (metrics.size > 1)
    throw new HoneError("HONE_ERR_USAGE", `the folders of ${name} count ${suite} by different metrics`, {
      hint: "Evaluate them again by one version of the suite.",
    });
  const all = folders.map(({ record }) => judgedOf(record, record.suites.get(suite)!).problems);
  const [first, ...others] = all.map((problems) => new Map(problems.map((one) => [one.key, one])));
  const keys = new Set(all.flat().map(({ key }) => key));
  const problems = [...first!.values()].flatMap((one) => {
    const same = others.map((folder) => folder.get(one.key));
    return same.includes(undefined) ? [] : [joined([one, ...(same as KeyedProblem[])])];
  });
  return { metric: [...metrics][0]!, problems, partial: keys.size - problems.length };
}

function joined(same: readonly KeyedProblem[]): KeyedProblem {
  if (same.length === 1) return same[0]!;
  const answers = same.flatMap(({ problem }, folder): Judged[] =>
    problem.answers.map((answer) => ({ ...answer, seed: folder * SEEDS_A_FOLDER + answer.seed })),
  );
  return { key: same[0]!.key, problem: { ...same[0]!.problem, answers } };
}
