import { matching, type SampleFilter } from "./filter.ts";
import { nameOf } from "./problems.ts";
import { type Page, sorted } from "./query.ts";
import { sampleOf } from "./sample.ts";
import type { SampleIndex } from "./sample-index.ts";
import { STATUSES } from "./tables.ts";

/** Samples of one problem that a step took together. Statistics are of the whole group, regardless of the filter. */
export interface SampleGroup {
  readonly step: number;
  readonly group: number;
  readonly domain: string;
  readonly problem: number;
  /** The first sixty characters of the group's question; absent in journals without questions. */
  readonly begins?: string;
  readonly members: number;
  readonly judged: number;
  readonly solved: number;
  /** Smallest and largest reward of the judged samples; absent if there are none. */
  readonly rewards?: readonly [number, number];
  readonly meanTokens: number;
  /** Rows of its members that pass the filter, by attempt. */
  readonly rows: readonly number[];
}

export interface FoundGroups {
  /** Number of groups with a sample that passes the filter, and number of samples that pass. */
  readonly total: number;
  readonly samples: number;
  readonly groups: readonly SampleGroup[];
}

const DEFAULT_LIMIT = 20;
const CORRECT = STATUSES.indexOf("correct");
const UNSCORED = STATUSES.indexOf("unscored");

/** A page of groups with samples that pass a filter, ordered by their first such sample. Throws HONE_ERR_FORMAT. */
export async function sampleGroups(
  index: SampleIndex,
  filter: SampleFilter,
  { order = "newest", offset = 0, limit = DEFAULT_LIMIT }: Page = {},
): Promise<FoundGroups> {
  const rows = sorted(index, matching(index, filter), order);
  const found = byGroup(index, rows);
  const groups = await named(index, found.slice(offset, offset + limit));
  return { total: found.length, samples: rows.length, groups };
}

/** The groups of the given rows, in the order of each group's first row; `rows` are those given. Throws HONE_ERR_FORMAT. */
export const groupsOfRows = (index: SampleIndex, rows: readonly number[]): Promise<SampleGroup[]> =>
  named(index, byGroup(index, rows));

function byGroup(index: SampleIndex, rows: readonly number[]): number[][] {
  const { at } = index.tables.members.columns;
  const found = new Map<number, number[]>();
  for (const row of rows) {
    const line = at[row]!; // offset of the journal line, which is unique to a group
    const own = found.get(line);
    if (own === undefined) found.set(line, [row]);
    else own.push(row);
  }
  return [...found.values()];
}

async function named(index: SampleIndex, found: readonly (readonly number[])[]): Promise<SampleGroup[]> {
  await using journal = await index.journal();
  const groups: SampleGroup[] = [];
  for (const own of found) {
    const problem = index.tables.members.columns.problem[own[0]!]!;
    const { begins } = await nameOf(index, problem, journal);
    groups.push({ ...groupOf(index, own), ...(begins && { begins }) });
  }
  return groups;
}

function groupOf(index: SampleIndex, own: readonly number[]): SampleGroup {
  const { status, reward, tokens } = index.tables.members.columns;
  const { step, group, domain, problem } = sampleOf(index, own[0]!);
  const all = membersBeside(index, own[0]!);
  const judged = all.filter((row) => status[row] !== UNSCORED);
  const rewards = judged.map((row) => reward[row]!);
  return {
    step,
    group,
    domain,
    problem,
    members: all.length,
    judged: judged.length,
    solved: judged.filter((row) => status[row] === CORRECT).length,
    ...(rewards.length > 0 && { rewards: [Math.min(...rewards), Math.max(...rewards)] }),
    meanTokens: all.reduce((sum, row) => sum + tokens[row]!, 0) / all.length,
    rows: [...own].sort((a, b) => a - b),
  };
}

/** Rows of a row's group, which are consecutive. */
export function membersBeside({ tables: { members } }: SampleIndex, row: number): number[] {
  const { at } = members.columns;
  const line = at[row]!;
  let first = row;
  while (first > 0 && at[first - 1] === line) first -= 1;
  const rows: number[] = [];
  for (let next = first; next < members.rows && at[next] === line; next++) rows.push(next);
  return rows;
}
