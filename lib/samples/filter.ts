import type { Verdict } from "../records.ts";
import type { SampleIndex } from "./sample-index.ts";
import { FINISHES, STATUSES } from "./tables.ts";

/** Inclusive bounds. */
export type Range = readonly [from: number, to: number];

/** Parses "7", "7..", "..7" or "7..12"; undefined for anything else. */
export function parseRange(text: string): Range | undefined {
  const ends = /^(\d{0,15})(\.\.)?(\d{0,15})$/.exec(text);
  if (ends === null || text === "" || text === "..") return undefined;
  const [, from, dots, to] = ends;
  if (dots === undefined) return [Number(text), Number(text)];
  return [Number(from), to === "" ? Number.MAX_SAFE_INTEGER : Number(to)];
}

/** Conditions on samples; all must hold. */
export interface SampleFilter {
  readonly steps?: Range | undefined;
  readonly domain?: string | undefined;
  /** Any id under which a problem was drawn; together with `domain` if several domains have the id. */
  readonly problem?: number | undefined;
  readonly group?: number | undefined;
  readonly attempt?: number | undefined;
  readonly statuses?: readonly Verdict["status"][] | undefined;
  readonly tokens?: Range | undefined;
  /** Versions of weights; at least one of them sampled a token of the completion. */
  readonly versions?: Range | undefined;
  /** Cut by the token budget. */
  readonly truncated?: boolean | undefined;
  /** Only completions that are not solved and longer than nine tenths of their domain's completions. */
  readonly wrongButLong?: boolean | undefined;
  /**
   * Samples of a problem's last group up to this step, and of its latest group, if at least half solved the
   * problem in exactly one of the two groups.
   */
  readonly flippedSince?: number | undefined;
}

type Test = (row: number) => boolean;

const CORRECT = STATUSES.indexOf("correct");
const UNSCORED = STATUSES.indexOf("unscored");

/** Rows of `members` that pass, in the order that steps took them. */
export function matching(index: SampleIndex, filter: SampleFilter): number[] {
  const tests = testsOf(index, filter);
  const rows: number[] = [];
  for (const row of index.live) if (tests.every((test) => test(row))) rows.push(row);
  return rows;
}

function testsOf(index: SampleIndex, filter: SampleFilter): Test[] {
  const { members, completions } = index.tables;
  const { step, group, attempt, tokens, firstVersion, lastVersion, status, completion } = members.columns;
  const tests: Test[] = [...problemTests(index, filter)];
  const within = (column: ArrayLike<number>, [from, to]: Range) =>
    tests.push((row) => column[row]! >= from && column[row]! <= to);
  if (filter.steps) within(step, filter.steps);
  if (filter.group !== undefined) within(group, [filter.group, filter.group]);
  if (filter.attempt !== undefined) within(attempt, [filter.attempt, filter.attempt]);
  if (filter.tokens) within(tokens, filter.tokens);
  if (filter.versions) {
    const [from, to] = filter.versions;
    tests.push((row) => firstVersion[row]! <= to && lastVersion[row]! >= from);
  }
  if (filter.statuses) {
    const wanted = filter.statuses.map((name) => STATUSES.indexOf(name));
    tests.push((row) => wanted.includes(status[row]!));
  }
  if (filter.truncated) {
    const cut = FINISHES.indexOf("length");
    tests.push((row) => completions.columns.finish[completion[row]!] === cut);
  }
  if (filter.wrongButLong) tests.push(wrongButLong(index));
  if (filter.flippedSince !== undefined) tests.push(flipped(index, filter.flippedSince));
  return tests;
}

function problemTests({ tables, names }: SampleIndex, { domain, problem }: SampleFilter): Test[] {
  const { problem: of } = tables.members.columns;
  const { domain: domains, same } = tables.problems.columns;
  const tests: Test[] = [];
  if (domain !== undefined) {
    const wanted = names.indexOf(domain);
    tests.push((row) => domains[of[row]!] === wanted);
  }
  if (problem !== undefined) {
    const wanted = drawnAs(tables, problem);
    tests.push((row) => wanted.has(same[of[row]!]!));
  }
  return tests;
}

/** Returns the first rows of the problems that were ever drawn under an id. */
function drawnAs({ problems }: SampleIndex["tables"], wanted: number): Set<number> {
  const { id, same } = problems.columns;
  const found = new Set<number>();
  for (let row = 0; row < problems.rows; row++) if (id[row] === wanted) found.add(same[row]!);
  return found;
}

function wrongButLong(index: SampleIndex): Test {
  const { problem, tokens, status } = index.tables.members.columns;
  const { domain } = index.tables.problems.columns;
  const limits = longLimits(index);
  return (row) => {
    const verdict = status[row]!;
    if (verdict === CORRECT || verdict === UNSCORED) return false;
    return tokens[row]! > limits.get(domain[problem[row]!]!)!;
  };
}

/** By domain number, the 90th percentile of completion lengths in tokens. */
export function longLimits(index: SampleIndex): Map<number, number> {
  const { problem, tokens } = index.tables.members.columns;
  const { domain } = index.tables.problems.columns;
  const lengths = new Map<number, number[]>();
  for (const row of index.live) {
    const of = domain[problem[row]!]!;
    const list = lengths.get(of);
    if (list === undefined) lengths.set(of, [tokens[row]!]);
    else list.push(tokens[row]!);
  }
  const limit = (list: number[]) => {
    const sorted = Uint32Array.from(list).sort();
    return sorted[Math.ceil(0.9 * sorted.length) - 1]!;
  };
  return new Map([...lengths].map(([of, list]) => [of, limit(list)]));
}

/** The last group of a problem in a range of steps. */
interface Taking {
  group: number;
  judged: number;
  solved: number;
}

const isSolved = ({ judged, solved }: Taking): boolean => 2 * solved >= judged;

function flipped(index: SampleIndex, since: number): Test {
  const { step, group, problem, status } = index.tables.members.columns;
  const { same } = index.tables.problems.columns;
  const before = new Map<number, Taking>();
  const after = new Map<number, Taking>();
  for (const row of index.live) {
    const side = step[row]! <= since ? before : after;
    const of = same[problem[row]!]!;
    let taking = side.get(of);
    if (taking?.group !== group[row]) {
      taking = { group: group[row]!, judged: 0, solved: 0 };
      side.set(of, taking);
    }
    if (status[row] !== UNSCORED) taking!.judged += 1;
    if (status[row] === CORRECT) taking!.solved += 1;
  }
  return (row) => {
    const of = same[problem[row]!]!;
    const [was, is] = [before.get(of), after.get(of)];
    if (was === undefined || is === undefined || was.judged === 0 || is.judged === 0) return false;
    return isSolved(was) !== isSolved(is) && group[row] === (step[row]! <= since ? was : is).group;
  };
}
