import { expectTrustedRecipes, type Recipe } from "../../config/index.ts";
import { identityOf, type ProblemSource } from "../../data/index.ts";
import { columnsOf } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import { loadHashed } from "../../hashed-module.ts";
import type { DomainName, Problem } from "../../records.ts";
import { moduleUrl } from "../../user-module.ts";

/** Facts about a problem from which its weight is computed. */
export interface ProblemHistory {
  /** Identity of the problem, equal in every run for equal question and reference. */
  readonly identity: string;
  /** Exponential average of the solve rates of the problem's groups; undefined before the first group. */
  readonly solveRate: number | undefined;
  /** Judged answers so far. */
  readonly attempts: number;
  /** Number in the curriculum's column of the row, or the level given by the source. */
  readonly difficulty: number;
  /** Fraction of the domain's problems that are easier. */
  readonly easier: number;
  /** Steps since the problem's last group; undefined before the first group. */
  readonly since: number | undefined;
  /** The step that takes the next batch, from 0. */
  readonly step: number;
}

/** Computes a problem's weight, 0 or above; a domain's problems are drawn in proportion to their weights. */
export type WeightFunction = (problem: ProblemHistory) => number;

/** The problems of a domain that are chosen among, and how. */
export interface Curriculum {
  readonly identities: readonly string[];
  readonly difficulties: Float64Array;
  readonly easier: Float64Array;
  readonly weigh: WeightFunction;
  readonly smoothing: number;
}

type Rule = NonNullable<Recipe["domains"][string]["curriculum"]>;

/**
 * The curricula of a recipe by domain. Throws HONE_ERR_CONFIG for a domain whose problems are not rows, or whose
 * function cannot be loaded; HONE_ERR_TRUST for a function that a folder's record names; HONE_ERR_DATA for a row
 * without the difficulty column.
 */
export async function openCurricula(
  recipe: Recipe,
  sources: ReadonlyMap<DomainName, ProblemSource>,
): Promise<Map<DomainName, Curriculum>> {
  const curricula = new Map<DomainName, Curriculum>();
  expectTrustedRecipes([recipe], ["curriculum"]);
  for (const [domain, { curriculum: rule }] of Object.entries(recipe.domains))
    if (rule !== undefined) curricula.set(domain, await openCurriculum(domain, rule, sources.get(domain)!));
  return curricula;
}

async function openCurriculum(domain: DomainName, rule: Rule, source: ProblemSource): Promise<Curriculum> {
  const count = source.trainingCount;
  if (count === undefined || count === 0)
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `domains.${domain}.curriculum chooses among rows, but the source of ${domain} generates its problems`,
      { hint: 'Give the domain a source of rows ("jsonl:mine.jsonl"), or leave curriculum out.' },
    );
  const identities: string[] = [];
  const difficulties = new Float64Array(count);
  for (let n = 0; n < count; n++) {
    const problem = source.problem(n);
    identities.push(identityOf(problem, true));
    difficulties[n] = difficultyOf(problem, rule, source);
  }
  const own = rule.weight && (await loadWeight(domain, rule.weight));
  const { smoothing } = rule;
  return {
    identities,
    difficulties,
    easier: sharesBelow(difficulties),
    weigh: weighBy(rule, own),
    smoothing,
  };
}

function difficultyOf(problem: Problem, { difficulty }: Rule, source: ProblemSource): number {
  const { column } = difficulty ?? {};
  if (column === undefined) return problem.level;
  const found = columnsOf(problem)?.[column];
  const value = Number(found ?? Number.NaN);
  if (Number.isFinite(value)) return value;
  throw new HoneError(
    "HONE_ERR_DATA",
    `${source.placeOf?.(problem.id) ?? problem.domain}: column ${column}, by which the curriculum of ${problem.domain} orders, holds ${JSON.stringify(found) ?? "nothing"}, no number`,
    { hint: "Give every row a number there, or map the row (source.map)." },
  );
}

/** Maps each number to the fraction of all numbers that are smaller. */
function sharesBelow(numbers: Float64Array): Float64Array {
  const sorted = numbers.toSorted();
  const first = new Map<number, number>();
  for (const [place, value] of sorted.entries()) if (!first.has(value)) first.set(value, place);
  return numbers.map((value) => first.get(value)! / numbers.length);
}

/** The product of the weights that a rule gives; see docs/how-to/curriculum.md. */
export function weighBy(rule: Rule, own?: WeightFunction): WeightFunction {
  const { solveRate, window, difficulty } = rule;
  const parts: WeightFunction[] = [];
  if (solveRate !== undefined)
    parts.push(({ solveRate: s }) => (s === undefined ? 1 : Math.max(solveRate.floor, 4 * s * (1 - s))));
  if (window !== undefined) parts.push(insideOf(window, rule.again));
  if (difficulty !== undefined) {
    const { from, steps } = difficulty;
    parts.push(({ easier, step }) => (easier < Math.min(1, from + ((1 - from) * step) / steps) ? 1 : 0));
  }
  if (own !== undefined) parts.push(own);
  return (problem) => parts.reduce((weight, part) => (weight === 0 ? 0 : weight * part(problem)), 1);
}

function insideOf([low, high]: readonly [number, number], again: Rule["again"]): WeightFunction {
  const { unsolved, solved } = typeof again === "number" ? { unsolved: again, solved: again } : again;
  return ({ solveRate: s, since = 0 }) => {
    if (s === undefined || (s >= low && s <= high)) return 1;
    return since >= (s < low ? unsolved : solved) ? 1 : 0;
  };
}

async function loadWeight(
  domain: DomainName,
  { module, sha256 }: NonNullable<Rule["weight"]>,
): Promise<WeightFunction> {
  const what = `domains.${domain}.curriculum.weight`;
  const hint = 'A path is from the working folder: "./weights.ts#mine".';
  const url = moduleUrl(module);
  const weight = await loadHashed<WeightFunction>(
    { module: url, sha256 },
    { what, code: "HONE_ERR_CONFIG", hint },
  );
  return (problem) => {
    const given: unknown = weight(problem);
    if (typeof given === "number" && Number.isFinite(given) && given >= 0) return given;
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `${what}: ${module} gave ${String(given)} for problem ${problem.identity}; a weight is a number, 0 or above`,
    );
  };
}
