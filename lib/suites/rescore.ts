import { isEnvironment, versionOf } from "../domains/index.ts";
import type { Problem, Verdict } from "../records.ts";
import { type VerificationRequest, VerifierPool } from "../rewards/index.ts";
import { lockFolder } from "../shared/files/folder-lock.ts";
import { expectTrusted, readFrom, type Trust } from "../trust.ts";
import { EvaluationLog } from "./record.ts";

export interface RescoreEvaluationOptions {
  /** Rescore only this domain. */
  readonly domain?: string | undefined;
  /** Rescore also completions with a verdict of the verifier's current version. */
  readonly all?: boolean | undefined;
  readonly workers?: number | undefined;
  /** Verifiers. Default: a pool of its own. */
  readonly verifiers?: Pick<VerifierPool, "verify"> | undefined;
  /** What the folder's record may make this process execute. Default: nothing. */
  readonly trust?: Trust | undefined;
  readonly onProgress?: ((judged: number, total: number) => void) | undefined;
}

/** A completion whose status or score has changed. */
export interface RescoredCompletion {
  readonly domain: string;
  readonly family: string;
  readonly problem: number;
  readonly before: Verdict | undefined;
  readonly after: Verdict;
}

export interface RescoredEvaluation {
  readonly completions: number;
  readonly judged: number;
  readonly changes: readonly RescoredCompletion[];
}

const BATCH = 256;

/**
 * Judges the completions of an evaluation again, from its folder alone; new verdicts are added to it and replace the
 * old ones. Throws HONE_ERR_TRUST if its suites name modules that `trust` does not allow, HONE_ERR_USAGE if the
 * folder is in use, HONE_ERR_IO, HONE_ERR_FORMAT.
 */
export async function rescoreEvaluation(
  dir: string,
  options: RescoreEvaluationOptions = {},
): Promise<RescoredEvaluation> {
  using _ = await lockFolder(dir, "an evaluation");
  using log = new EvaluationLog(dir);
  const modules = Object.assign(
    {},
    ...[...log.record.suites.values()].map((suite) => suite.modules),
  ) as Record<string, string>;
  const own =
    options.verifiers === undefined
      ? new VerifierPool({ workers: options.workers ?? 2, modules: trusted(modules, dir, options.trust) })
      : undefined;
  try {
    return await rescore(log, options.verifiers ?? own!, options);
  } finally {
    await own?.close();
  }
}

/** Returns the modules if `trust` allows them all. Throws HONE_ERR_TRUST otherwise. */
function trusted(modules: Record<string, string>, dir: string, trust: Trust | undefined) {
  const demands = Object.entries(modules).map(([name, url]) => ({
    field: `modules.${name}`,
    kind: "module" as const,
    url,
  }));
  expectTrusted([{ record: readFrom(modules, dir, { trust }), demands: () => demands }]);
  return modules;
}

interface Again {
  readonly key: string;
  readonly request: VerificationRequest;
}

async function rescore(
  log: EvaluationLog,
  verifiers: Pick<VerifierPool, "verify">,
  { domain, all = false, onProgress }: RescoreEvaluationOptions,
): Promise<RescoredEvaluation> {
  const { completions } = log.record;
  const changes: RescoredCompletion[] = [];
  let judged = 0;
  const judge = async (batch: readonly Again[]) => {
    const verdicts = await verifiers.verify(batch.map(({ request }) => request));
    for (const [i, { key, request }] of batch.entries()) {
      const { domain, family, id: problem } = request.problem;
      const [before, after] = [completions.get(key)!.verdict, verdicts[i]!];
      if (differs(before, after)) changes.push({ domain, family, problem, before, after });
    }
    log.add(
      batch.map(({ key, request }, i) => ({
        verdict: verdicts[i]!,
        on: key,
        version: versionOf(request.problem.verifier),
      })),
    );
    judged += batch.length;
    onProgress?.(judged, completions.size);
  };
  let batch: Again[] = [];
  for (const one of toJudge(log, all, domain)) {
    if (batch.push(one) < BATCH) continue;
    await judge(batch);
    batch = [];
  }
  if (batch.length > 0) await judge(batch);
  return { completions: completions.size, judged, changes };
}

/** Completions to judge, in the order of the file as it is now; each once. */
function* toJudge(log: EvaluationLog, all: boolean, domain: string | undefined): Generator<Again> {
  const problems = new Map<string, Problem>();
  const seen = new Set<string>();
  for (const line of log.lines()) {
    if ("as" in line) problems.set(line.problem, line.as);
    if (!("completion" in line) || seen.has(line.completion)) continue;
    seen.add(line.completion);
    const problem = problems.get(line.of)!;
    const { verdict, version } = log.record.completions.get(line.completion)!;
    const present =
      verdict !== undefined && verdict.status !== "unscored" && version === versionOf(problem.verifier);
    // verdicts of episodes stay: an environment cannot judge again
    if (
      (present && (!all || isEnvironment(problem.verifier))) ||
      (domain !== undefined && problem.domain !== domain)
    )
      continue;
    yield { key: line.completion, request: { problem, text: line.text, finish: line.finish } };
  }
}

function differs(before: Verdict | undefined, after: Verdict): boolean {
  if (before === undefined || before.status !== after.status) return true;
  return before.status !== "unscored" && after.status !== "unscored" && before.score !== after.score;
}
