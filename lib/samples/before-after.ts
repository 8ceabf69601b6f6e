import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HeldOutAttempt, HeldOutLine, HeldOutMoment } from "../evaluation/index.ts";
import { RUN_FILES } from "../metrics/index.ts";
import type { FinishReason, Verdict } from "../records.ts";
import type { Place } from "./builder.ts";
import type { ChangeKind } from "./choices.ts";
import { Journal } from "./journal.ts";

/** The policy's answer to a held-out problem in one attempt. */
export interface HeldOutSaid {
  readonly attempt: number;
  readonly status: Verdict["status"];
  readonly score?: number;
  readonly finish: FinishReason;
  readonly tokens: number;
  readonly text: string;
}

/** A held-out problem in two evaluations of a run. */
export interface BeforeAfterProblem {
  readonly domain: string;
  /** Validation set of the problem; absent for a problem of a domain. */
  readonly set?: string;
  readonly problem: number;
  /**
   * Whether, compared with before training, more of the problem's attempts solved it, fewer, equally many, or none at
   * both times.
   */
  readonly change: Exclude<ChangeKind, "all"> | "same";
  /** Number of attempts that solved the problem before and after training; `judged` has the numbers of judged attempts. */
  readonly solved: readonly [before: number, after: number];
  readonly judged: readonly [before: number, after: number];
  readonly question: string;
  readonly reference: unknown;
  readonly before: readonly HeldOutSaid[];
  readonly after: readonly HeldOutSaid[];
}

/** Two evaluations of a run side by side. */
export interface BeforeAfter {
  /** The available evaluations, in the order of steps. */
  readonly moments: readonly HeldOutMoment[];
  readonly before: HeldOutMoment;
  readonly after: HeldOutMoment;
  /** Numbers of problems by kind of change, regardless of the filter. */
  readonly counts: Readonly<Record<BeforeAfterProblem["change"], number>>;
  /** Number of problems of the requested kind. */
  readonly total: number;
  readonly problems: readonly BeforeAfterProblem[];
}

export interface BeforeAfterQuery {
  readonly kind?: ChangeKind | undefined;
  /** A domain or a validation set. */
  readonly domain?: string | undefined;
  /** Steps done at the later evaluation. Default: the last evaluation. */
  readonly at?: number | undefined;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

type ProblemLine = Extract<HeldOutLine, { problem: string }>;
type Ends = readonly [before: readonly HeldOutAttempt[], after: readonly HeldOutAttempt[]];
type Changed = Pick<BeforeAfterProblem, "change" | "solved" | "judged"> & {
  readonly asked: ProblemLine;
  readonly ends: Ends;
};

const DEFAULT_LIMIT = 20;

/**
 * Held-out problems with the policy's answers before training and at a later evaluation, those with the greatest
 * change first; undefined if the run has not kept two evaluations. Throws HONE_ERR_IO, HONE_ERR_FORMAT naming a
 * malformed line.
 */
export async function beforeAfter(
  dir: string,
  { kind = "all", domain, at, offset = 0, limit = DEFAULT_LIMIT }: BeforeAfterQuery = {},
): Promise<BeforeAfter | undefined> {
  const path = join(dir, RUN_FILES.heldOutCompletions);
  if (!existsSync(path)) return undefined;
  await using record = await Journal.open<HeldOutLine>(path);
  const { evaluations, problems, places } = await readRecord(record);
  const first = evaluations[0];
  const later = evaluations.findLast(({ evaluation }) => at === undefined || evaluation.step === at);
  if (first === undefined || later === undefined || first === later) return undefined;
  const changed = changes(problems, first.answers, later.answers).filter(
    ({ asked }) => domain === undefined || (asked.set ?? asked.domain) === domain,
  );
  const found = changed.filter(({ change }) => kind === "all" || change === kind);
  found.sort((a, b) => difference(b) - difference(a));
  const page: BeforeAfterProblem[] = [];
  for (const one of found.slice(offset, offset + limit)) page.push(await withTexts(one, places, record));
  const count = (which: BeforeAfterProblem["change"]) =>
    changed.filter(({ change }) => change === which).length;
  return {
    moments: evaluations.map(({ evaluation }) => evaluation),
    before: first.evaluation,
    after: later.evaluation,
    counts: { gained: count("gained"), lost: count("lost"), wrong: count("wrong"), same: count("same") },
    total: found.length,
    problems: page,
  };
}

/** Reads the answers of an evaluation; if a resumed run evaluated a step again, the last evaluation counts. */
async function readRecord(record: Journal<HeldOutLine>) {
  const problems = new Map<string, ProblemLine>();
  const places = new Map<string, Place>();
  const evaluations = new Map<string, Extract<HeldOutLine, { evaluation: HeldOutMoment }>>();
  for await (const lines of record.lines(0)) {
    for (const { line, at, size } of lines) {
      if ("problem" in line) problems.set(line.problem, line);
      else if ("completion" in line) places.set(line.completion, { at, size });
      else if (isEvaluation(line)) evaluations.set(nameOf(line.evaluation), line);
      else throw record.damaged(at, "not a line of an evaluation's record");
    }
  }
  const rank = ({ when, step }: HeldOutMoment) => (when === "before" ? -1 : step);
  const inOrder = [...evaluations.values()].sort((a, b) => rank(a.evaluation) - rank(b.evaluation));
  return { problems, places, evaluations: inOrder };
}

const isEvaluation = (line: object): line is Extract<HeldOutLine, { evaluation: HeldOutMoment }> =>
  "evaluation" in line && "answers" in line && Array.isArray(line.answers);

const nameOf = ({ when, step }: HeldOutMoment): string => (when === "before" ? when : `${step}`);

/** Problems with verdicts at both times: one without any verdict was neither solved nor failed. */
function changes(problems: ReadonlyMap<string, ProblemLine>, before: Ends[0], after: Ends[1]): Changed[] {
  const [was, is] = [byProblem(before), byProblem(after)];
  return [...was].flatMap(([key, first]) => {
    const [asked, second] = [problems.get(key), is.get(key)];
    if (asked === undefined || second === undefined) return [];
    const changed = changeOf(asked, [first, second]);
    return changed.judged.every((n) => n > 0) ? [changed] : [];
  });
}

function byProblem(answers: Ends[0]): Map<string, HeldOutAttempt[]> {
  const all = new Map<string, HeldOutAttempt[]>();
  for (const answer of answers) {
    const known = all.get(answer[0]);
    if (known === undefined) all.set(answer[0], [answer]);
    else known.push(answer);
  }
  return all;
}

function changeOf(asked: ProblemLine, ends: Ends): Changed {
  const count = (is: (status: Verdict["status"]) => boolean) =>
    ends.map((answers) => answers.filter(([, , , status]) => is(status)).length) as [number, number];
  const solved = count((status) => status === "correct");
  const judged = count((status) => status !== "unscored");
  const rise = rateOf(solved[1], judged[1]) - rateOf(solved[0], judged[0]);
  const level = solved[1] === 0 ? "wrong" : "same";
  return { asked, ends, solved, judged, change: rise > 0 ? "gained" : rise < 0 ? "lost" : level };
}

const rateOf = (solved: number, judged: number): number => solved / judged;

const difference = ({ solved, judged }: Changed): number =>
  Math.abs(rateOf(solved[1], judged[1]) - rateOf(solved[0], judged[0]));

async function withTexts(
  { asked, ends, ...changed }: Changed,
  places: ReadonlyMap<string, Place>,
  record: Journal<HeldOutLine>,
): Promise<BeforeAfterProblem> {
  const said = async ([, completion, attempt, status, score]: HeldOutAttempt): Promise<HeldOutSaid> => {
    const place = places.get(completion);
    const line = place && (await record.line(place));
    if (line === undefined || !("text" in line)) throw record.damaged(0, `no completion ${completion}`);
    const { finish, tokens, text } = line;
    return { attempt, status, ...(score !== undefined && { score }), finish, tokens, text };
  };
  const { domain, set, id, question, reference } = asked;
  return {
    domain,
    ...(set !== undefined && { set }),
    problem: id,
    ...changed,
    question,
    reference,
    before: await Promise.all(ends[0].map(said)),
    after: await Promise.all(ends[1].map(said)),
  };
}
