import { join } from "node:path";
import { expectTrustedRecipes } from "../../config/index.ts";
import { isEnvironment, UNVERSIONED, versionOf } from "../../domains/index.ts";
import { RUN_FILES, readRunManifest } from "../../metrics/index.ts";
import type { DomainName, Verdict } from "../../records.ts";
import type { VerificationRequest } from "../../rewards/index.ts";
import { lockFolder } from "../../shared/files/folder-lock.ts";
import type { Trust } from "../../trust.ts";
import {
  type JournaledCompletion,
  readVerdictJournal,
  recordedRecipe,
  VerdictJournal,
} from "../records/index.ts";
import { openVerifiers, type Verifiers } from "../setup/index.ts";

export interface RescoreOptions {
  /** Rescore only this domain. */
  readonly domain?: DomainName;
  /** Also judges completions for which the journal has a verdict of the verifier's current version. */
  readonly all?: boolean;
  /** Default: a pool according to the run's recipe. */
  readonly verifiers?: Verifiers;
  /** What the folder's record may make this process execute. Default: nothing. */
  readonly trust?: Trust | undefined;
  readonly onProgress?: (judged: number, total: number) => void;
}

/** A completion whose status or score has changed. */
export interface ChangedVerdict {
  readonly domain: DomainName;
  /** Id of the problem in the run. */
  readonly problem: number;
  readonly family: string;
  readonly before: Verdict;
  readonly after: Verdict;
}

/** Counts over the distinct completions of a domain, and means over the completions that have a score. */
export interface RescoredDomain {
  readonly domain: DomainName;
  readonly completions: number;
  /** Number of completions judged again; the verdicts on all others come from the journal. */
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

/** A completion without its text. */
interface Outcome {
  readonly problem: Pick<ChangedVerdict, "domain" | "problem" | "family">;
  /** Current version of the completion's verifier. */
  readonly version: number;
  before: Verdict | undefined;
  after: Verdict | undefined;
  judged: boolean;
  /** True if an environment judged the completion; environments cannot judge again, so the run's verdict is kept. */
  readonly isEpisode: boolean;
}
type Compared = Outcome & { readonly before: Verdict; readonly after: Verdict };

/** Completions that go to the pool together. */
const BATCH = 64;

/**
 * Judges the completions of a run again and compares the verdicts with the run's. Takes a verdict of the
 * verifier's current version from the journal, if there is one, and adds new ones to it for the next rescore.
 * Reads the journal twice and keeps the texts of one batch in memory. Throws HONE_ERR_TRUST if the run's
 * recipe names modules or judges that `trust` does not allow, HONE_ERR_IO or HONE_ERR_FORMAT if the folder is
 * not a run or its journal is damaged, HONE_ERR_USAGE while the run is in progress: opening a journal for
 * writing would cut off a line that the run is writing.
 */
export async function rescoreRun(dir: string, options: RescoreOptions = {}): Promise<Rescoring> {
  const manifest = readRunManifest(dir);
  const recipe = recordedRecipe(manifest.config, dir, { ...manifest, trust: options.trust });
  if (options.verifiers === undefined) expectTrustedRecipes([recipe], ["verifiers"]); // before the folder is touched
  using _ = await lockFolder(dir);
  const path = join(dir, RUN_FILES.verdicts);
  const outcomes = await journaledOutcomes(path, options);
  const { verifiers: shared } = options;
  const own = shared === undefined ? openVerifiers(recipe) : undefined;
  try {
    using journal = new VerdictJournal(path, { append: true });
    await judgeAgain(outcomes, path, shared ?? own!, journal, options);
    return summarize([...outcomes.values()] as Compared[]);
  } finally {
    await own?.close();
  }
}

/** By completion, in journal order: the run's verdict, and that of the verifier's current version, if present. */
async function journaledOutcomes(
  path: string,
  { domain, all = false }: RescoreOptions,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  for await (const entry of readVerdictJournal(path)) {
    if (entry.kind === "completion") {
      const { id: problem, domain: of, family, verifier } = entry.problem;
      if (domain !== undefined && of !== domain) continue;
      const [version, none] = [versionOf(verifier), { before: undefined, after: undefined }];
      outcomes.set(entry.key, {
        problem: { domain: of, problem, family },
        version,
        ...none,
        isEpisode: isEnvironment(verifier),
        judged: false,
      });
      continue;
    }
    const outcome = outcomes.get(entry.key);
    if (outcome === undefined) continue;
    outcome.before ??= entry.verdict;
    if (!all && outcome.version !== UNVERSIONED && entry.version === outcome.version)
      outcome.after = entry.verdict;
  }
  for (const [key, outcome] of outcomes) {
    if (outcome.before === undefined) outcomes.delete(key); // the process ended before its verdict was written
    if (outcome.after?.status === "unscored") outcome.after = undefined;
    if (outcome.isEpisode) outcome.after = outcome.before;
  }
  return outcomes;
}

/**
 * Judges, in batches, the completions that have no verdict of the verifier's current version. The texts come from the
 * journal.
 */
async function judgeAgain(
  outcomes: ReadonlyMap<string, Outcome>,
  path: string,
  verifiers: Verifiers,
  journal: VerdictJournal,
  { onProgress }: RescoreOptions,
): Promise<void> {
  const total = [...outcomes.values()].filter(({ after }) => after === undefined).length;
  let judged = 0;
  let batch: JournaledCompletion[] = [];
  const judge = async () => {
    const verdicts = await verifiers.verify(batch.map(requestOf));
    for (const [i, after] of verdicts.entries()) {
      const { key } = batch[i]!;
      const outcome = outcomes.get(key)!;
      Object.assign(outcome, { after, judged: true });
      journal.addVerdict(key, outcome.version, after);
    }
    judged += batch.length;
    batch = [];
    onProgress?.(judged, total);
  };
  if (total === 0) return;
  for await (const entry of readVerdictJournal(path)) {
    if (entry.kind !== "completion" || !isDue(outcomes.get(entry.key))) continue;
    batch.push(entry);
    if (batch.length === BATCH) await judge();
  }
  if (batch.length > 0) await judge();
}

const isDue = (outcome: Outcome | undefined) => outcome !== undefined && outcome.after === undefined;

const requestOf = ({ problem, text, finish, tokens }: JournaledCompletion): VerificationRequest => ({
  problem: { ...problem, question: "" },
  text,
  finish,
  ...(tokens && { tokens }),
});

const scoreOf = (verdict: Verdict): number | undefined =>
  verdict.status === "unscored" ? undefined : verdict.score;

const isChanged = ({ before, after }: Compared): boolean =>
  before.status !== after.status || scoreOf(before) !== scoreOf(after);

function summarize(all: readonly Compared[]): Rescoring {
  const names = [...new Set(all.map(({ problem }) => problem.domain))];
  const domains = names.map((domain) =>
    summarizeDomain(
      domain,
      all.filter(({ problem }) => problem.domain === domain),
    ),
  );
  const changes = all.filter(isChanged).map(({ problem, before, after }) => ({ ...problem, before, after }));
  return { domains, changes };
}

function summarizeDomain(domain: DomainName, found: readonly Compared[]): RescoredDomain {
  const count = (test: (outcome: Compared) => boolean) => found.filter(test).length;
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

/** Mean of the scores; 0 if no verdict has a score. */
function meanScore(verdicts: readonly Verdict[]): number {
  const scores = verdicts.flatMap((verdict) => scoreOf(verdict) ?? []);
  return scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

function solvedShare(verdicts: readonly Verdict[]): number {
  const scored = verdicts.filter(({ status }) => status !== "unscored");
  return scored.length === 0 ? 0 : scored.filter(({ status }) => status === "correct").length / scored.length;
}
