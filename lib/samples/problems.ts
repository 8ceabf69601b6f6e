import { beginning, identityOfLine } from "../orchestration/index.ts";
import type { ProblemKind, ProblemOrder } from "./choices.ts";
import { matching } from "./filter.ts";
import type { Journal } from "./journal.ts";
import type { SampleIndex } from "./sample-index.ts";
import { FINISHES, STATUSES } from "./tables.ts";

/** Statistics of one problem in a run. */
export interface ProblemStatistics {
  readonly domain: string;
  /** Id of the problem's first draw. */
  readonly problem: number;
  readonly family: string;
  readonly level: number;
  /** Number of the problem's groups that steps took. */
  readonly groups: number;
  readonly judged: number;
  readonly unscored: number;
  readonly solved: number;
  /** Fraction of judged samples that solved the problem; 0 without judged samples. */
  readonly solveRate: number;
  /** Solve rates of the problem's first and of its last group. */
  readonly firstRate: number;
  readonly lastRate: number;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly meanTokens: number;
}

/** Statistics of a problem, with names for display. */
export interface NamedProblem extends ProblemStatistics {
  /** Identity, 32 hex digits: the same in every run for a row of a data set with the same question. */
  readonly identity: string;
  /** File and line; absent for a generated problem, and in journals of older versions. */
  readonly row?: string;
  /** The first sixty characters of the problem's question, or, in journals of older versions, of its prompt. */
  readonly begins?: string;
}

/** One group of a problem. */
export interface Taking {
  readonly step: number;
  readonly group: number;
  readonly judged: number;
  readonly unscored: number;
  readonly solved: number;
  readonly solveRate: number;
  readonly truncated: number;
  readonly meanTokens: number;
  /** Mean over judged samples; absent without judged samples. */
  readonly meanReward?: number;
  /** Rows of the problem's samples. */
  readonly rows: readonly number[];
}

export interface ProblemQuery {
  readonly domain?: string | undefined;
  readonly kind?: ProblemKind | undefined;
  readonly order?: ProblemOrder | undefined;
  readonly offset?: number;
  readonly limit?: number;
}

const CORRECT = STATUSES.indexOf("correct");
const UNSCORED = STATUSES.indexOf("unscored");
const DEFAULT_LIMIT = 50;
/** Marks of a tokenizer before the question, in a prompt as the model saw it. */
const MARKS = /^(?:<[^<>\s]+>)+/;

/** Sums over the samples of each problem, by the row of its first draw: 52 bytes per problem, where objects take 400. */
interface Sums {
  /** Problems that a step took, in order of first use. */
  readonly taken: readonly number[];
  readonly groups: Uint32Array;
  /** The problem's last group so far. */
  readonly group: Uint32Array;
  readonly samples: Uint32Array;
  readonly judged: Uint32Array;
  readonly solved: Uint32Array;
  readonly tokens: Float64Array;
  readonly firstStep: Uint32Array;
  readonly lastStep: Uint32Array;
  /** Judged and solved samples of the first group, and of the last. */
  readonly first: Counts;
  readonly last: Counts;
}

interface Counts {
  readonly judged: Uint32Array;
  readonly solved: Uint32Array;
}

/** One row per problem that a step took; `first` is the row of its first draw among the problems. */
export function problemStatistics(index: SampleIndex): (ProblemStatistics & { readonly first: number })[] {
  const sums = sumsOf(index);
  return sums.taken.map((first) => ({ ...statisticsOf(index, sums, first), first }));
}

function sumsOf(index: SampleIndex): Sums {
  const { step, group, problem, status, tokens } = index.tables.members.columns;
  const { same } = index.tables.problems.columns;
  const taken: number[] = [];
  const sums = noSums(taken, index.tables.problems.rows);
  for (const row of index.live) {
    const of = same[problem[row]!]!;
    const isFirst = sums.samples[of] === 0;
    if (isFirst) {
      taken.push(of);
      sums.firstStep[of] = step[row]!;
    }
    if (isFirst || sums.group[of] !== group[row]) beginGroup(sums, of, group[row]!);
    sums.samples[of]! += 1;
    sums.tokens[of]! += tokens[row]!;
    sums.lastStep[of] = step[row]!;
    if (status[row] !== UNSCORED) judge(sums, of, Number(status[row] === CORRECT));
  }
  return sums;
}

function noSums(taken: readonly number[], problems: number): Sums {
  const counts = () => new Uint32Array(problems);
  return {
    taken,
    groups: counts(),
    group: counts(),
    samples: counts(),
    judged: counts(),
    solved: counts(),
    tokens: new Float64Array(problems),
    firstStep: counts(),
    lastStep: counts(),
    first: { judged: counts(), solved: counts() },
    last: { judged: counts(), solved: counts() },
  };
}

function beginGroup({ groups, group, last }: Sums, of: number, number: number): void {
  groups[of]! += 1;
  group[of] = number;
  [last.judged[of], last.solved[of]] = [0, 0];
}

function judge(sums: Sums, of: number, solved: number): void {
  const { groups, first, last } = sums;
  for (const counts of groups[of] === 1 ? [sums, first, last] : [sums, last]) {
    counts.judged[of]! += 1;
    counts.solved[of]! += solved;
  }
}

function statisticsOf({ tables, names }: SampleIndex, sums: Sums, row: number): ProblemStatistics {
  const { domain, family, id, level } = tables.problems.columns;
  const samples = sums.samples[row]!;
  const judged = sums.judged[row]!;
  return {
    domain: names[domain[row]!]!,
    problem: id[row]!,
    family: names[family[row]!]!,
    level: level[row]!,
    groups: sums.groups[row]!,
    judged,
    unscored: samples - judged,
    solved: sums.solved[row]!,
    firstStep: sums.firstStep[row]!,
    lastStep: sums.lastStep[row]!,
    solveRate: rateOf(sums, row),
    firstRate: rateOf(sums.first, row),
    lastRate: rateOf(sums.last, row),
    meanTokens: sums.tokens[row]! / samples,
  };
}

const rateOf = ({ judged, solved }: Counts, row: number): number =>
  rate({ judged: judged[row]!, solved: solved[row]! });

const rate = ({ judged, solved }: { readonly judged: number; readonly solved: number }): number =>
  judged === 0 ? 0 : solved / judged;

/** A page of problems of a kind, sorted. Throws HONE_ERR_IO, HONE_ERR_FORMAT if there is no valid journal. */
export async function problems(
  index: SampleIndex,
  { domain, kind = "all", order = "hardest", offset = 0, limit = DEFAULT_LIMIT }: ProblemQuery = {},
): Promise<{ readonly total: number; readonly problems: readonly NamedProblem[] }> {
  const sums = sumsOf(index);
  const key = new Float64Array(index.tables.problems.rows);
  const found = sums.taken.filter((row) => {
    const one = statisticsOf(index, sums, row);
    key[row] = KEYS[order](one);
    return (domain === undefined || one.domain === domain) && isOf(kind, one);
  });
  found.sort((a, b) => key[a]! - key[b]! || sums.judged[b]! - sums.judged[a]!);
  await using journal = await index.journal();
  const named: NamedProblem[] = [];
  for (const row of found.slice(offset, offset + limit))
    named.push({ ...statisticsOf(index, sums, row), ...(await nameOf(index, row, journal)) });
  return { total: found.length, problems: named };
}

/** Names of a problem for display. @param first its row among the problems. Throws HONE_ERR_FORMAT. */
export async function nameOf({ tables }: SampleIndex, first: number, journal: Journal) {
  const { at, size } = tables.problems.columns;
  const line = await journal.line({ at: at[first]!, size: size[first]! });
  if (!("problem" in line)) throw journal.damaged(at[first]!, "the index is of another journal");
  const { row, prompt } = line;
  const begins = line.begins ?? (prompt && beginning(prompt.replace(MARKS, "")));
  return { identity: identityOfLine(line), ...(row && { row }), ...(begins && { begins }) };
}

function isOf(
  kind: ProblemKind,
  { judged, solved, groups, firstRate, lastRate }: ProblemStatistics,
): boolean {
  if (kind === "all") return true;
  if (kind === "never") return judged > 0 && solved === 0;
  if (kind === "always") return judged > 0 && solved === judged;
  if (kind === "sometimes") return solved > 0 && solved < judged;
  return groups > 1 && firstRate >= 0.5 !== lastRate >= 0.5;
}

/** Sort keys, ascending. */
const KEYS: Readonly<Record<ProblemOrder, (one: ProblemStatistics) => number>> = {
  hardest: ({ solveRate }) => solveRate,
  easiest: ({ solveRate }) => -solveRate,
  gained: ({ firstRate, lastRate }) => firstRate - lastRate,
  lost: ({ firstRate, lastRate }) => lastRate - firstRate,
  longest: ({ meanTokens }) => -meanTokens,
  most: ({ judged }) => -judged,
};

/** The groups of one problem in the order of steps. */
export function takings(index: SampleIndex, domain: string, problem: number): Taking[] {
  const { group } = index.tables.members.columns;
  const found: number[][] = [];
  for (const row of matching(index, { domain, problem })) {
    const last = found.at(-1);
    if (last !== undefined && group[last[0]!] === group[row]) last.push(row);
    else found.push([row]);
  }
  return found.map((rows) => takingOf(index, rows));
}

function takingOf({ tables }: SampleIndex, rows: readonly number[]): Taking {
  const { step, group, status, tokens, reward, completion } = tables.members.columns;
  const { finish } = tables.completions.columns;
  const cut = FINISHES.indexOf("length");
  const judged = rows.filter((row) => status[row] !== UNSCORED);
  const solved = judged.filter((row) => status[row] === CORRECT).length;
  const mean = (of: readonly number[], column: ArrayLike<number>) =>
    of.reduce((sum, row) => sum + column[row]!, 0) / of.length;
  return {
    step: step[rows[0]!]!,
    group: group[rows[0]!]!,
    judged: judged.length,
    unscored: rows.length - judged.length,
    solved,
    solveRate: rate({ judged: judged.length, solved }),
    truncated: rows.filter((row) => finish[completion[row]!] === cut).length,
    meanTokens: mean(rows, tokens),
    ...(judged.length > 0 && { meanReward: mean(judged, reward) }),
    rows,
  };
}
