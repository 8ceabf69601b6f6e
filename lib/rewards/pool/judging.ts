import { loadBuiltIn } from "../../domains/load-built-in.ts";
import { rewardVerdict } from "../../domains/reward.ts";
import { scaledVerdict } from "../../domains/reward-scale.ts";
import type { Verdict } from "../../records.ts";
import type { PythonCall } from "../python/python-call.ts";
import { loadPython, rateInPython } from "../python/python-rewards.ts";
import { type Loaded, loadReward, loadVerifier } from "./load-verifier.ts";
import { noAnswerIn, TimeLimit } from "./time-limit.ts";
import type { JobResult, MemberOutcome, Phase, VerificationJob } from "./verification-job.ts";
import { faultOf } from "./verifier-fault.ts";

/** Receives the judge's next phase, and its time limit. */
export interface PhaseLog {
  begin(phase: Phase, limitMs?: number, member?: number): void;
}

const loaded = new Map<string, Promise<Loaded>>();

const keyOf = ({ verifier, moduleUrl = verifier, isReward }: VerificationJob): string =>
  isReward ? `reward ${moduleUrl}` : moduleUrl;

function find(job: VerificationJob): Promise<Loaded> {
  const key = keyOf(job);
  const verifier = loaded.get(key) ?? load(job);
  loaded.set(key, verifier);
  return verifier;
}

async function load({ verifier: name, moduleUrl, isReward, domain }: VerificationJob): Promise<Loaded> {
  if (moduleUrl !== undefined) {
    const verifier = isReward ? await loadReward(moduleUrl) : await loadVerifier(moduleUrl);
    await verifier.prepare?.();
    return verifier;
  }
  const verifier = domain === undefined ? undefined : await loadBuiltIn(domain, name);
  if (!verifier) throw new Error(`there is no verifier named ${JSON.stringify(name)}`);
  return verifier;
}

/** Limit of a reason, because reasons are stored with every completion of a run. */
const REASON_LENGTH = 500;
const NO_VERDICT: Verdict = { status: "unscored", cause: "the verifier returned no verdict" };
const STATUSES = new Set(["correct", "partial", "wrong", "no_answer", "unparsable"]);

/**
 * Checks the verdict of a user's verifier, which is not compiled against our types. `wrong` with partial credit is
 * what the reference modes of built-in verifiers return where the reference does; of a user's verifier it is an
 * error.
 */
export function checkVerdict(verdict: Verdict, isBuiltIn: boolean): Verdict {
  if (verdict === null || typeof verdict !== "object") return NO_VERDICT;
  if (verdict.status === "unscored")
    return { status: "unscored", cause: String(verdict.cause ?? "it gave no cause").slice(0, REASON_LENGTH) };
  if (!STATUSES.has(verdict.status) || !("score" in verdict)) return NO_VERDICT;
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

/** Judges the members in order, and logs which one is next; a Python function judges all at once. */
export async function judgeJob(job: VerificationJob, log: PhaseLog): Promise<JobResult> {
  log.begin("loading", job.loadTimeoutMs);
  if (job.python !== undefined) return judgeInPython(job, job.python, log);
  let verifier: Loaded;
  try {
    verifier = await find(job);
  } catch (error) {
    loaded.delete(keyOf(job)); // forgets the failed load, so that a retry loads the module again
    return notLoaded(job, `verifier did not load: ${faultOf(error, job.moduleUrl)}`);
  }
  const outcomes: MemberOutcome[] = [];
  const references = new Map<unknown, unknown>();
  for (const index of job.members.keys()) {
    const started = performance.now();
    const time = new TimeLimit(job.timeoutMs, () => log.begin("waiting", 0, index));
    const judged = await judge(job, index, { verifier, references, log, time }).finally(() => time.end());
    const isLate = time.signal.aborted && { isLate: true as const };
    const verdict = isLate ? noAnswerIn(job.timeoutMs) : judged;
    outcomes.push({ verdict, microseconds: (performance.now() - started) * 1000, ...isLate });
  }
  return { outcomes, limits: verifier.limits };
}

function notLoaded({ members }: VerificationJob, cause: string): JobResult {
  const verdict = { status: "unscored", cause } as const;
  return { outcomes: members.map(() => ({ verdict, microseconds: 0 })), limits: undefined };
}

/** This process waits while Python works: a slow call here is not the completion's fault, and leaves it unscored. */
async function judgeInPython(job: VerificationJob, call: PythonCall, log: PhaseLog): Promise<JobResult> {
  let about: string;
  try {
    about = await loadPython(call);
  } catch (error) {
    return notLoaded(job, `the reward did not load: ${faultOf(error)}`);
  }
  const { members, scale, timeoutMs } = job;
  if (members.length === 0) return { outcomes: [], limits: undefined, about };
  log.begin("waiting", timeoutMs);
  const started = performance.now();
  const { rated, isLost } = await rateInPython(call, members);
  const microseconds = ((performance.now() - started) * 1000) / members.length;
  const outcomes = rated.map((one) => {
    const verdict = typeof one === "number" ? scaledVerdict(one, scale) : one;
    return { verdict, microseconds, ...(isLost && { isLost }) };
  });
  return { outcomes, limits: undefined, about };
}

/** Data shared by the members of a job, and the time limit per member. */
interface Judging {
  readonly verifier: Loaded;
  readonly references: Map<unknown, unknown>;
  readonly log: PhaseLog;
  readonly time: TimeLimit;
}

async function judge(
  job: VerificationJob,
  index: number,
  { verifier, references, log, time }: Judging,
): Promise<Verdict> {
  const { members, moduleUrl, timeoutMs, isReward = false, scale } = job;
  const { reference, text, finish } = members[index]!;
  try {
    if (!references.has(reference)) {
      log.begin("reference", timeoutMs, index);
      references.set(reference, verifier.parseReference(reference));
    }
    log.begin("verifying", isReward ? timeoutMs + TIMER_SLACK_MS : timeoutMs, index);
    if (isReward) time.begin();
    const verdict = await verifier.verify({ text, finish }, references.get(reference), time.signal);
    if (isReward) return rewardVerdict(verdict, (one) => checkVerdict(one, false), scale);
    return checkVerdict(verdict as Verdict, moduleUrl === undefined);
  } catch (error) {
    return { status: "unscored", cause: `verifier threw: ${faultOf(error, moduleUrl)}` };
  }
}

/** Time by which the watchdog acts after the timer: if the timer cannot fire, the reward is computing. Milliseconds. */
const TIMER_SLACK_MS = 100;
