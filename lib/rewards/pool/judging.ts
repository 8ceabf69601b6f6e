import { loadBuiltIn } from "../../domains/load-built-in.ts";
import type { Verifier } from "../../domains/verifier.ts";
import type { Verdict } from "../../records.ts";
import { loadVerifier } from "./load-verifier.ts";
import type { JobResult, MemberOutcome, Phase, VerificationJob } from "./verification-job.ts";
import { faultOf } from "./verifier-fault.ts";

/** Told the judge's next phase, and its time limit. */
export interface PhaseLog {
  begin(phase: Phase, limitMs?: number, member?: number): void;
}

const loaded = new Map<string, Promise<Verifier>>();

function find(job: VerificationJob): Promise<Verifier> {
  const key = job.moduleUrl ?? job.verifier;
  const verifier = loaded.get(key) ?? load(job);
  loaded.set(key, verifier);
  return verifier;
}

async function load({ verifier: name, moduleUrl, domain }: VerificationJob): Promise<Verifier> {
  if (moduleUrl !== undefined) {
    const verifier = await loadVerifier(moduleUrl);
    await verifier.prepare?.();
    return verifier;
  }
  const verifier = domain === undefined ? undefined : await loadBuiltIn(domain, name);
  if (!verifier) throw new Error(`no verifier is called ${JSON.stringify(name)}`);
  return verifier;
}

/** Limit of a reason, because reasons are stored with every completion of a run. */
const REASON_LENGTH = 500;
const STATUSES = new Set(["correct", "partial", "wrong", "no_answer", "unparsable"]);

/**
 * Checks the verdict of a user's verifier, which is not compiled against our types. `wrong` with partial credit is
 * what the reference modes of built-in verifiers return where the reference does; of a user's verifier it is an
 * error.
 */
function checkVerdict(verdict: Verdict, isBuiltIn: boolean): Verdict {
  if (
    verdict === null ||
    typeof verdict !== "object" ||
    !STATUSES.has(verdict.status) ||
    !("score" in verdict)
  ) {
    return { status: "unscored", cause: "the verifier returned no verdict" };
  }
  const { status, score, reason } = verdict;
  const mayBePart = status === "partial" || (status === "wrong" && isBuiltIn);
  const fits = status === "correct" ? score === 1 : mayBePart ? score >= 0 && score < 1 : score === 0;
  if (typeof score !== "number" || !fits)
    return {
      status: "unscored",
      cause: `the verifier returned status ${status} with score ${String(score).slice(0, REASON_LENGTH)}`,
    };
  return { status, score, reason: String(reason ?? "").slice(0, REASON_LENGTH) };
}

/** Judges the members in order, and tells the log which one is next. */
export async function judgeJob(job: VerificationJob, log: PhaseLog): Promise<JobResult> {
  log.begin("loading", job.loadTimeoutMs);
  let verifier: Verifier;
  try {
    verifier = await find(job);
  } catch (error) {
    loaded.delete(job.moduleUrl ?? job.verifier); // so that the retry loads again
    const cause = `verifier did not load: ${faultOf(error, job.moduleUrl)}`;
    const outcomes = job.members.map(
      () => ({ verdict: { status: "unscored", cause }, microseconds: 0 }) as const,
    );
    return { outcomes, limits: undefined };
  }
  const outcomes: MemberOutcome[] = [];
  const references = new Map<unknown, unknown>();
  for (const index of job.members.keys()) {
    const started = performance.now();
    const verdict = await judge(job, index, verifier, references, log);
    outcomes.push({ verdict, microseconds: (performance.now() - started) * 1000 });
  }
  return { outcomes, limits: verifier.limits };
}

async function judge(
  { members, moduleUrl, timeoutMs }: VerificationJob,
  index: number,
  verifier: Verifier,
  references: Map<unknown, unknown>,
  log: PhaseLog,
): Promise<Verdict> {
  const { reference, text, finish } = members[index]!;
  try {
    if (!references.has(reference)) {
      log.begin("reference", timeoutMs, index);
      references.set(reference, verifier.parseReference(reference));
    }
    log.begin("verifying", timeoutMs, index);
    const verdict = await verifier.verify({ text, finish }, references.get(reference));
    return checkVerdict(verdict, moduleUrl === undefined);
  } catch (error) {
    return { status: "unscored", cause: `verifier threw: ${faultOf(error, moduleUrl)}` };
  }
}
