import { join } from "node:path";
import { defineRecipe, type RecipeInput } from "../config/index.ts";
import { readRunManifest } from "../metrics/index.ts";
import type { DomainName, Verdict } from "../records.ts";
import {
  type JournaledCompletion,
  readVerdictJournal,
  UNVERSIONED,
  VerdictJournal,
  versionOf,
} from "./verdict-journal.ts";
import { openVerifiers, VERDICT_JOURNAL, type Verifiers } from "./workshop.ts";

export interface RescoreOptions {
  /** Only this domain. */
  readonly domain?: DomainName;
  /** Judge also what the journal has a verdict of the present version for. */
  readonly all?: boolean;
  /** Default: a pool as the run's recipe has it. */
  readonly verifiers?: Verifiers;
  readonly onProgress?: (judged: number, total: number) => void;
}

/** A completion whose status or score is another now. */
export interface ChangedVerdict {
  readonly domain: DomainName;
  /** Id of the problem in the run. */
  readonly problem: number;
  readonly family: string;
  readonly before: Verdict;
  readonly after: Verdict;
}

/** Sums over the distinct completions of a domain; means over those that have a score. */
export interface RescoredDomain {
  readonly domain: DomainName;
  readonly completions: number;
  /** How many were judged again; the others' verdicts are the journal's. */
  readonly judged: number;
  readonly scoreBefore: number;
  readonly scoreAfter: number;
  readonly solvedBefore: number;
  readonly solvedAfter: number;
  readonly unscoredBefore: number;
  readonly unscoredAfter: number;
  readonly changed: number;
}

export interface Rescoring {
  readonly domains: readonly RescoredDomain[];
  readonly changes: readonly ChangedVerdict[];
}

interface Outcome {
  readonly completion: JournaledCompletion;
  readonly before: Verdict;
  readonly after: Verdict;
  readonly judged: boolean;
}

/** Completions that go to the pool together. */
const BATCH = 64;

/**
 * Judges the completions of a run again and compares with the verdicts they had in the run. A verdict that the
 * journal has for the verifier's present version is taken from there; new ones are added to it, so that the next
 * time finds them. Throws HONE_ERR_IO or HONE_ERR_FORMAT when the folder is no run or its journal is damaged.
 */
export async function rescoreRun(dir: string, options: RescoreOptions = {}): Promise<Rescoring> {
  const recipe = defineRecipe(readRunManifest(dir).config as RecipeInput, dir);
  const path = join(dir, VERDICT_JOURNAL);
  const completions = (await readVerdictJournal(path)).filter(
    ({ problem, verdicts }) =>
      verdicts.length > 0 && (options.domain === undefined || problem.domain === options.domain),
  );
  const { verifiers: shared } = options;
  const own = shared === undefined ? openVerifiers(recipe) : undefined;
  try {
    using journal = new VerdictJournal(path, true);
    return summarize(await outcomes(completions, shared ?? own!, journal, options));
  } finally {
    await own?.close();
  }
}

async function outcomes(
  completions: readonly JournaledCompletion[],
  verifiers: Verifiers,
  journal: VerdictJournal,
  { all = false, onProgress }: RescoreOptions,
): Promise<Outcome[]> {
  const kept = completions.map((completion) => (all ? undefined : presentVerdict(completion)));
  const due = completions.filter((_, i) => kept[i] === undefined);
  const fresh = new Map<string, Verdict>();
  for (let start = 0; start < due.length; start += BATCH) {
    const batch = due.slice(start, start + BATCH);
    const requests = batch.map(({ problem, text, finish }) => ({
      problem: { ...problem, question: "" },
      text,
      finish,
    }));
    for (const [i, verdict] of (await verifiers.verify(requests)).entries()) {
      const { key, problem } = batch[i]!;
      fresh.set(key, verdict);
      journal.addVerdict(key, versionOf(problem.verifier), verdict);
    }
    onProgress?.(Math.min(start + BATCH, due.length), due.length);
  }
  return completions.map((completion, i) => ({
    completion,
    before: completion.verdicts[0]!.verdict,
    after: kept[i] ?? fresh.get(completion.key)!,
    judged: kept[i] === undefined,
  }));
}

/** The newest verdict of the verifier's present version, if it is one. */
function presentVerdict({ problem, verdicts }: JournaledCompletion): Verdict | undefined {
  const version = versionOf(problem.verifier);
  if (version === UNVERSIONED) return undefined;
  const found = verdicts.findLast((one) => one.version === version)?.verdict;
  return found?.status === "unscored" ? undefined : found;
}

const scoreOf = (verdict: Verdict): number | undefined =>
  verdict.status === "unscored" ? undefined : verdict.score;

const isChanged = ({ before, after }: Outcome): boolean =>
  before.status !== after.status || scoreOf(before) !== scoreOf(after);

function summarize(all: readonly Outcome[]): Rescoring {
  const names = [...new Set(all.map(({ completion }) => completion.problem.domain))];
  const domains = names.map((domain) =>
    summarizeDomain(
      domain,
      all.filter(({ completion }) => completion.problem.domain === domain),
    ),
  );
  const changes = all.filter(isChanged).map(({ completion: { problem }, before, after }) => ({
    ...{ domain: problem.domain, problem: problem.id, family: problem.family, before, after },
  }));
  return { domains, changes };
}

function summarizeDomain(domain: DomainName, found: readonly Outcome[]): RescoredDomain {
  const count = (test: (outcome: Outcome) => boolean) => found.filter(test).length;
  const before = found.map((outcome) => outcome.before);
  const after = found.map((outcome) => outcome.after);
  return {
    domain,
    completions: found.length,
    judged: count(({ judged }) => judged),
    scoreBefore: meanScore(before),
    scoreAfter: meanScore(after),
    solvedBefore: solvedShare(before),
    solvedAfter: solvedShare(after),
    unscoredBefore: count((outcome) => outcome.before.status === "unscored"),
    unscoredAfter: count((outcome) => outcome.after.status === "unscored"),
    changed: count(isChanged),
  };
}

/** 0 where nothing has a score. */
function meanScore(verdicts: readonly Verdict[]): number {
  const scores = verdicts.flatMap((verdict) => scoreOf(verdict) ?? []);
  return scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

function solvedShare(verdicts: readonly Verdict[]): number {
  const scored = verdicts.filter(({ status }) => status !== "unscored");
  return scored.length === 0 ? 0 : scored.filter(({ status }) => status === "correct").length / scored.length;
}
