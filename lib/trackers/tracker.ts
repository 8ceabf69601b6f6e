import type { StepDetails } from "../metrics/index.ts";
import type { RolloutGroup, StepRecord } from "../records.ts";
import { type CompletionTable, completionTable, isDue } from "./completions.ts";

/** Facts about the run for a tracker. */
export interface TrackedRun {
  /** Id of the run: 32 hexadecimal digits, created once per run folder and kept over every resume. */
  readonly id: string;
  readonly name: string;
  readonly seed: number;
  /** The recipe with its defaults, plain JSON. */
  readonly recipe: unknown;
  /** The run folder, absolute. */
  readonly dir: string;
}

/** History of one completion; times are milliseconds since 1970. */
export interface TrackedRollout {
  readonly domain: string;
  readonly problem: number;
  readonly family: string;
  readonly attempt: number;
  readonly submittedAt: number;
  readonly generatedAt: number;
  readonly promptTokens: number;
  readonly tokens: number;
  readonly finish: string;
  /** [first token, weight version, first token, weight version, ...] */
  readonly versions: readonly number[];
  readonly verdict: { readonly status: string; readonly score: number; readonly reason: string };
  readonly reward: number;
  readonly advantage: number;
  /** Reason why the rollout's group was not trained on; absent if it was. */
  readonly dropped?: string | undefined;
}

/** A step as spooled for a tracker: one line of JSON. */
export interface TrackedStep extends StepRecord {
  readonly kind: "step";
  /** When the step ended, milliseconds since 1970. */
  readonly at: number;
  /** 1 for the first start of the run, one more for every resume. */
  readonly sitting: number;
  /** The first completion of the step's first group. */
  readonly rollout?: TrackedRollout | undefined;
  /** Present if the tracker requests it with this step. */
  readonly completions?: CompletionTable | undefined;
}

/** The end of a session. */
export interface TrackedEnd {
  readonly kind: "end";
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly sitting: number;
  readonly state: "finished" | "stopped" | "failed";
}

/** An entry sent to a tracker. */
export type Tracked = TrackedStep | TrackedEnd;

/** Input of a tracker besides its entries. */
export interface Sending {
  readonly run: TrackedRun;
  /** Aborts when the attempt times out, or the run ends. */
  readonly signal: AbortSignal;
  /** The tracker's state from its last call, also after a kill: plain JSON, undefined at first. */
  readonly memory: unknown;
}

/**
 * A sink that sends: called in the background with the waiting entries in order, at most `MOST_AT_ONCE`. Resolves
 * with the state to keep (undefined: unchanged). If it rejects, the same entries are sent again later; a
 * `retryAfterMs` on the error gives the delay, and `refused: true` means that they can never be accepted: then they
 * are set aside in a file.
 */
export interface Tracker {
  /** A plain file name, unique in the run. */
  readonly name: string;
  /** Number of steps between two tables of completions; absent for a tracker that gets none. */
  readonly completionsEvery?: number | undefined;
  send(entries: readonly Tracked[], sending: Sending): Promise<unknown>;
  /** Called once, after the last `send`. */
  close?(): void | Promise<void>;
}

/** Entries of one `send`. */
export const MOST_AT_ONCE = 50;

/** Why a tracker did not accept its entries. */
export class NotTaken extends Error {
  override readonly name = "NotTaken";
  /** True if the tracker will never accept the entries. */
  readonly refused: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { refused = false, retryAfterMs = undefined as number | undefined } = {}) {
    super(message);
    this.refused = refused;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A step in the form that is spooled and sent. @param every interval in steps of a table of completions */
export function trackedStep(
  { step, version, metrics }: StepRecord,
  { endedAt, epochMs, groups }: StepDetails,
  sitting: number,
  every?: number,
): TrackedStep {
  const rollout = trackedRollout(groups, epochMs);
  const completions = isDue(step, every) && { completions: completionTable(step, groups) };
  const more = { ...(rollout && { rollout }), ...completions };
  return { kind: "step", step, version, at: endedAt, sitting, metrics, ...more };
}

/** @param epochMs what to add to the times of the run's clock to get milliseconds since 1970. */
function trackedRollout(groups: readonly RolloutGroup[], epochMs: number): TrackedRollout | undefined {
  const group = groups.find(({ rollouts }) => rollouts.length > 0);
  const first = group?.rollouts[0];
  if (group === undefined || first === undefined) return undefined;
  const { rollout, verdict, reward, advantage } = first;
  const { problem, attempt, tokens, promptTokens, finish, versions } = rollout;
  return {
    domain: problem.domain,
    problem: problem.id,
    family: problem.family,
    attempt,
    submittedAt: epochMs + rollout.submittedMs,
    generatedAt: epochMs + rollout.finishedMs,
    promptTokens: promptTokens.length,
    tokens: tokens.length,
    finish,
    versions: versionStarts(versions),
    verdict: { status: verdict.status, score: verdict.score, reason: verdict.reason },
    reward,
    advantage,
    ...(group.dropped !== undefined && { dropped: group.dropped }),
  };
}

function versionStarts(versions: Uint32Array): number[] {
  const starts: number[] = [];
  versions.forEach((version, t) => {
    if (t === 0 || version !== versions[t - 1]) starts.push(t, version);
  });
  return starts;
}
