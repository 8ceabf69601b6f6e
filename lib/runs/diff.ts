import { HoneError } from "../errors.ts";
import type { EvaluationTable, Score } from "../report/index.ts";
import { pairedSpread, type Spread, spreadOf } from "../sweeps/index.ts";
import { type CommonSteps, commonSteps, type StepMean, stepMeans } from "./common-steps.ts";
import { runFolders } from "./list.ts";
import { type RunFacts, readRun } from "./read-run.ts";
import { differingFields, fieldsOf, valuesOf } from "./recipe-fields.ts";

export const MEAN = "mean";
export type Measure = "score" | "solveRate" | "meanTokens";
const MEASURES: readonly Measure[] = ["score", "solveRate", "meanTokens"];
/** Step metrics for each measure of training, over all domains and for one. */
const STEP_METRICS: Readonly<Record<Measure, readonly [all: string, each: string]>> = {
  score: ["score/mean", "score/mean/"],
  solveRate: ["success", "success/"],
  meanTokens: ["length/mean", "length/mean/"],
};
/** Standard errors beyond which a difference is more than noise. */
const CLEAR = 2;

/** One result of both sides. */
export interface ResultDifference {
  readonly measure: Measure;
  /** A domain, a validation set, or "mean" over the domains. */
  readonly domain: string;
  /** Mean and spread over the runs of side a; undefined if none has the result. */
  readonly a: Spread | undefined;
  readonly b: Spread | undefined;
  /** b - a: per seed if the sides share two or more seeds, else of the means. */
  readonly difference: Spread | undefined;
  /** True if seeds were paired. */
  readonly paired: boolean;
  /**
   * With one run per side: the standard error of the difference, from the problems (only for `score` and
   * `meanTokens`) or, during training, from the steps.
   */
  readonly standardError?: number | undefined;
  /**
   * Significance of b's difference from a: beyond two standard errors, or the 95 % interval; undefined if the noise
   * is unknown.
   */
  readonly is?: "higher" | "lower" | "noise" | undefined;
}

export interface FieldDifference {
  readonly path: string;
  /** Values of the field as JSON texts; several if the runs of this side differ. */
  readonly a: readonly string[];
  readonly b: readonly string[];
}

export interface RunsDifference {
  readonly a: readonly RunFacts[];
  readonly b: readonly RunFacts[];
  readonly recipe: readonly FieldDifference[];
  /** Held-out results after training, under the first sampling setting. */
  readonly results: readonly ResultDifference[];
  /** Results during training, over the last steps that all runs have; undefined if a run has none. */
  readonly training: (CommonSteps & { readonly results: readonly ResultDifference[] }) | undefined;
}

/** Two or more runs, each beside the first. */
export interface ComparedRuns {
  readonly runs: readonly Omit<RunFacts, "recipe" | "before" | "after">[];
  /** A recipe field that differs, with its value in each run as JSON. */
  readonly recipe: readonly { readonly path: string; readonly values: readonly string[] }[];
  /** How every run but the first (as `b`) differs from the first. */
  readonly differences: readonly Pick<RunsDifference, "results" | "training">[];
}

/**
 * Compares the recipes and results of two runs, or of two folders of runs of one recipe under several seeds.
 * Throws HONE_ERR_USAGE for a folder without a run, HONE_ERR_IO, HONE_ERR_FORMAT.
 */
export async function diffRuns(a: string, b: string): Promise<RunsDifference> {
  const sides = { a: await runsOf(a), b: await runsOf(b) };
  const [recipesA, recipesB] = [sides.a, sides.b].map((runs) => runs.map(({ recipe }) => fieldsOf(recipe)));
  const paths = differingFields([...recipesA!, ...recipesB!]);
  const recipe = paths.map((path) => ({ path, a: valuesOf(recipesA!, path), b: valuesOf(recipesB!, path) }));
  return { ...sides, recipe, ...differences(sides, commonSteps([...sides.a, ...sides.b])) };
}

/** Compares runs with the first of them. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export async function compareRuns(dirs: readonly string[]): Promise<ComparedRuns> {
  const runs = await Promise.all(dirs.map(readRun));
  const recipes = runs.map(({ recipe }) => fieldsOf(recipe));
  const steps = commonSteps(runs);
  return {
    runs: runs.map(({ recipe: _, before: __, after: ___, ...facts }) => facts),
    recipe: differingFields(recipes).map((path) => ({
      path,
      values: recipes.map((fields) => valuesOf([fields], path)[0]!),
    })),
    differences: runs.slice(1).map((run) => differences({ a: [runs[0]!], b: [run] }, steps)),
  };
}

type Sides = Pick<RunsDifference, "a" | "b">;

function differences(sides: Sides, steps: CommonSteps | undefined) {
  const all = [...sides.a, ...sides.b];
  const heldOut = resultsOf(sides, domainsOf(all), ({ after }, measure, domain) => {
    const score = scoreIn(after, domain);
    return score && { mean: score[measure], error: errorIn(score, measure) };
  });
  return { results: heldOut, training: steps && { ...steps, results: trainingResults(sides, steps) } };
}

function trainingResults(sides: Sides, steps: CommonSteps): ResultDifference[] {
  const means = new Map([...sides.a, ...sides.b].map((run) => [run, stepMeans(run.dir, steps)]));
  const [, each] = STEP_METRICS.score;
  const names = [...means.values()].flatMap((metrics) => [...metrics.keys()]);
  const domains = [...new Set(names.filter((name) => name.startsWith(each)))];
  const listed = [MEAN, ...domains.map((name) => name.slice(each.length))];
  return resultsOf(sides, listed.length === 2 ? [MEAN] : listed, (run, measure, domain) => {
    const [all, one] = STEP_METRICS[measure];
    return means.get(run)!.get(domain === MEAN ? all : one + domain);
  }).filter(({ a, b }) => a !== undefined || b !== undefined);
}

async function runsOf(dir: string): Promise<RunFacts[]> {
  const folders = runFolders(dir);
  if (folders.length === 0)
    throw new HoneError("HONE_ERR_USAGE", `${dir} is not a run folder and contains none`, {
      hint: "hone runs lists the runs of a folder.",
    });
  return Promise.all(folders.map(readRun));
}

/** "mean", then the domains, then validation sets, in the order of the first run that has them. */
function domainsOf(runs: readonly RunFacts[]): string[] {
  const tables = runs.flatMap(({ after }) => (after === undefined ? [] : [after]));
  const names = [
    ...tables.flatMap(({ domains }) => Object.keys(domains)),
    ...tables.flatMap(({ sets = {} }) => Object.keys(sets)),
  ];
  return tables.length === 0 ? [] : [...new Set([MEAN, ...names])];
}

const scoreIn = (table: EvaluationTable | undefined, domain: string): Score | undefined =>
  domain === MEAN ? table?.mean : (table?.domains[domain] ?? table?.sets?.[domain]);

function errorIn({ standardError, tokensStandardError }: Score, measure: Measure): number | undefined {
  if (measure === "score") return standardError;
  return measure === "meanTokens" ? tokensStandardError : undefined;
}

/** Reads a result of a run, and its standard error if known. */
type NumberOf = (
  run: RunFacts,
  measure: Measure,
  domain: string,
) => (Omit<StepMean, "error"> & { readonly error?: number | undefined }) | undefined;

const resultsOf = (sides: Sides, domains: readonly string[], numberOf: NumberOf): ResultDifference[] =>
  MEASURES.flatMap((measure) => domains.map((domain) => compared(sides, measure, domain, numberOf)));

function compared({ a, b }: Sides, measure: Measure, domain: string, numberOf: NumberOf): ResultDifference {
  const bySeed = (runs: readonly RunFacts[]) =>
    new Map(
      runs.flatMap((run) => {
        const number = numberOf(run, measure, domain);
        return number === undefined ? [] : [[run.seed, number.mean] as const];
      }),
    );
  const [valuesA, valuesB] = [bySeed(a), bySeed(b)];
  const [spreadA, spreadB] = [spreadOf([...valuesA.values()]), spreadOf([...valuesB.values()])];
  const pairs = pairedSpread(valuesA, valuesB);
  const paired = pairs !== undefined && pairs.n > 1;
  const ofMeans = spreadA && spreadB && { n: 1, mean: spreadB.mean - spreadA.mean };
  const difference = paired ? pairs : ofMeans;
  const single = a.length === 1 && b.length === 1;
  const errors = [...a, ...b].map((run) => numberOf(run, measure, domain)?.error);
  const standardError = single ? independentError(errors) : undefined;
  return {
    measure,
    domain,
    a: spreadA,
    b: spreadB,
    difference,
    paired,
    ...(single && { standardError }),
    ...(difference && { is: beyondNoise(difference, standardError) }),
  };
}

/**
 * Standard error of a difference for independent samples; a comparison problem by problem would have a smaller one.
 */
const independentError = (errors: readonly (number | undefined)[]): number | undefined =>
  errors.every((error) => error !== undefined) ? Math.hypot(...(errors as number[])) : undefined;

function beyondNoise({ mean, interval }: Spread, standardError: number | undefined): ResultDifference["is"] {
  if (interval === undefined && standardError === undefined) return undefined;
  const isNoise = interval
    ? interval.low <= 0 && interval.high >= 0
    : Math.abs(mean) <= CLEAR * standardError!;
  if (isNoise) return "noise";
  return mean > 0 ? "higher" : "lower";
}
