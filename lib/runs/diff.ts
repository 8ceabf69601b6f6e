import { HoneError } from "../errors.ts";
import type { EvaluationTable, Score } from "../report/index.ts";
import { pairedSpread, type Spread, spreadOf } from "../sweeps/index.ts";
import { runFolders } from "./list.ts";
import { type RunFacts, readRun } from "./read-run.ts";
import { differingFields, fieldsOf, valuesOf } from "./recipe-fields.ts";

export const MEAN = "mean";
export type Measure = "score" | "solveRate" | "meanTokens";
const MEASURES: readonly Measure[] = ["score", "solveRate", "meanTokens"];

/** One number of both sides: held out, after training, under the first sampling setting. */
export interface ResultDifference {
  readonly measure: Measure;
  /** A domain, a validation set, or "mean" over the domains. */
  readonly domain: string;
  /** Over the runs of a side; undefined where none was evaluated. */
  readonly a: Spread | undefined;
  readonly b: Spread | undefined;
  /** b - a: seed by seed where the sides share two seeds or more, else of the means. */
  readonly difference: Spread | undefined;
  /** True if seeds were paired. */
  readonly paired: boolean;
  /**
   * With one run a side: the standard error of the difference, from the problems; of `score` and `meanTokens` alone.
   */
  readonly standardError?: number | undefined;
}

export interface FieldDifference {
  readonly path: string;
  /** JSON texts; several where a side's runs differ among themselves. */
  readonly a: readonly string[];
  readonly b: readonly string[];
}

export interface RunsDifference {
  readonly a: readonly RunFacts[];
  readonly b: readonly RunFacts[];
  readonly recipe: readonly FieldDifference[];
  readonly results: readonly ResultDifference[];
}

/**
 * Two runs, or two folders of runs of one recipe under several seeds: what their recipes and their results differ in.
 * Throws HONE_ERR_USAGE for a folder without a run, HONE_ERR_IO, HONE_ERR_FORMAT.
 */
export async function diffRuns(a: string, b: string): Promise<RunsDifference> {
  const sides = { a: await runsOf(a), b: await runsOf(b) };
  const [recipesA, recipesB] = [sides.a, sides.b].map((runs) => runs.map(({ recipe }) => fieldsOf(recipe)));
  const paths = differingFields([...recipesA!, ...recipesB!]);
  const recipe = paths.map((path) => ({ path, a: valuesOf(recipesA!, path), b: valuesOf(recipesB!, path) }));
  const domains = domainsOf([...sides.a, ...sides.b]);
  const results = MEASURES.flatMap((measure) => domains.map((domain) => compared(sides, measure, domain)));
  return { ...sides, recipe, results };
}

async function runsOf(dir: string): Promise<RunFacts[]> {
  const folders = runFolders(dir);
  if (folders.length === 0)
    throw new HoneError("HONE_ERR_USAGE", `${dir} has no run, neither it nor a folder in it`, {
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

function compared(
  { a, b }: Pick<RunsDifference, "a" | "b">,
  measure: Measure,
  domain: string,
): ResultDifference {
  const bySeed = (runs: readonly RunFacts[]) =>
    new Map(
      runs.flatMap(({ seed, after }) => {
        const score = scoreIn(after, domain);
        return score === undefined ? [] : [[seed, score[measure]] as const];
      }),
    );
  const [valuesA, valuesB] = [bySeed(a), bySeed(b)];
  const [spreadA, spreadB] = [spreadOf([...valuesA.values()]), spreadOf([...valuesB.values()])];
  const pairs = pairedSpread(valuesA, valuesB);
  const paired = pairs !== undefined && pairs.n > 1;
  const ofMeans = spreadA && spreadB && { n: 1, mean: spreadB.mean - spreadA.mean };
  return {
    measure,
    domain,
    a: spreadA,
    b: spreadB,
    difference: paired ? pairs : ofMeans,
    paired,
    ...(a.length === 1 && b.length === 1 && { standardError: errorOf(a[0]!, b[0]!, measure, domain) }),
  };
}

/** Standard error for independent samples: larger than that of the same problems compared problem by problem. */
function errorOf(a: RunFacts, b: RunFacts, measure: Measure, domain: string): number | undefined {
  const errors = [a, b].map(({ after }) => {
    const score = scoreIn(after, domain);
    return measure === "score"
      ? score?.standardError
      : measure === "meanTokens"
        ? score?.tokensStandardError
        : undefined;
  });
  return errors.every((error) => error !== undefined) ? Math.hypot(...(errors as number[])) : undefined;
}
