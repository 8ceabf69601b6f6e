import { beginning, identityOfLine } from "../orchestration/index.ts";
import type { ProblemKind, ProblemOrder } from "./choices.ts";
import { matching } from "./filter.ts";
import type { Journal } from "./journal.ts";
import type { SampleIndex } from "./sample-index.ts";
import { FINISHES, STATUSES } from "./tables.ts";

/** What became of one problem in a run. */
export interface ProblemStatistics {
  readonly domain: string;
  /** Id of its first draw. */
  readonly problem: number;
  readonly family: string;
  readonly level: number;
  /** Groups that steps took of it. */
  readonly groups: number;
  readonly judged: number;
  readonly unscored: number;
  readonly solved: number;
  /** Of the judged; 0 where none was. */
  readonly solveRate: number;
  /** Of its first group, and of its last. */
  readonly firstRate: number;
  readonly lastRate: number;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly meanTokens: number;
}

/** The same with what tells it to people. */
export interface NamedProblem extends ProblemStatistics {
  /** Of a row of a data set the same in every run that asks it so: 32 hex digits. */
  readonly identity: string;
  /** File and line; absent for a generated problem, and in journals of older versions. */
  readonly row?: string;
  /** The first sixty characters of its question, or in journals of older versions of its prompt. */
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
  /** Of the judged; absent where none was. */
  readonly meanReward?: number;
  /** Rows of its samples. */
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

/** Sums over a problem's samples, while they are read in the order of steps. */
interface Sums {
  groups: number;
  group: number;
  judged: number;
  unscored: number;
  solved: number;
  tokens: number;
  samples: number;
  firstStep: number;
  lastStep: number;
  first: { judged: number; solved: number };
  last: { judged: number; solved: number };
}

/** Every problem that a step took, a row each; `first` is the row of its first draw among the problems. */
export function problemStatistics(index: SampleIndex): (ProblemStatistics & { readonly first: number })[] {
  const { step, group, problem, status, tokens } = index.tables.members.columns;
  const { same } = index.tables.problems.columns;
  const all = new Map<number, Sums>();
  for (const row of index.live) {
    const of = same[problem[row]!]!;
    const sums = all.get(of) ?? beginSums(step[row]!);
    if (sums.samples === 0) all.set(of, sums);
    if (sums.groups === 0 || sums.group !== group[row]) {
      sums.groups += 1;
      sums.group = group[row]!;
      sums.last = sums.groups === 1 ? sums.first : { judged: 0, solved: 0 };
    }
    sums.samples += 1;
    sums.tokens += tokens[row]!;
    sums.lastStep = step[row]!;
    if (status[row] === UNSCORED) {
      sums.unscored += 1;
      continue;
    }
    const solved = Number(status[row] === CORRECT);
    sums.judged += 1;
    sums.last.judged += 1;
    sums.solved += solved;
    sums.last.solved += solved;
  }
  return [...all].map(([of, sums]) => ({ ...statisticsOf(index, of, sums), first: of }));
}

function beginSums(step: number): Sums {
  const first = { judged: 0, solved: 0 };
  const counts = { groups: 0, group: 0, judged: 0, unscored: 0, solved: 0, tokens: 0, samples: 0 };
  return { ...counts, firstStep: step, lastStep: step, first, last: first };
}

function statisticsOf({ tables, names }: SampleIndex, row: number, sums: Sums): ProblemStatistics {
  const { domain, family, id, level } = tables.problems.columns;
  const { groups, judged, unscored, solved, firstStep, lastStep, first, last } = sums;
  return {
    domain: names[domain[row]!]!,
    problem: id[row]!,
    family: names[family[row]!]!,
    level: level[row]!,
    groups,
    judged,
    unscored,
    solved,
    firstStep,
    lastStep,
    solveRate: rate(sums),
    firstRate: rate(first),
    lastRate: rate(last),
    meanTokens: sums.tokens / sums.samples,
  };
}

const rate = ({ judged, solved }: { readonly judged: number; readonly solved: number }): number =>
  judged === 0 ? 0 : solved / judged;

/** Problems of a kind in an order, a page of them. Throws HONE_ERR_IO, HONE_ERR_FORMAT for what is no journal. */
export async function problems(
  index: SampleIndex,
  { domain, kind = "all", order = "hardest", offset = 0, limit = DEFAULT_LIMIT }: ProblemQuery = {},
): Promise<{ readonly total: number; readonly problems: readonly NamedProblem[] }> {
  const found = problemStatistics(index).filter(
    (one) => (domain === undefined || one.domain === domain) && isOf(kind, one),
  );
  const key = KEYS[order];
  found.sort((a, b) => key(a) - key(b) || b.judged - a.judged);
  await using journal = await index.journal();
  const named: NamedProblem[] = [];
  for (const { first, ...one } of found.slice(offset, offset + limit))
    named.push({ ...one, ...(await nameOf(index, first, journal)) });
  return { total: found.length, problems: named };
}

/** What tells a problem to people. @param first its row among the problems. Throws HONE_ERR_FORMAT. */
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

/** Ascending is what comes first. */
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
