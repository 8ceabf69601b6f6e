import type { FinishReason, Verdict } from "../records.ts";

/** What crosses to a worker: completions to be judged by one verifier. */
export interface VerificationJob {
  readonly verifier: string;
  /** Where a user's own verifier is imported from; absent for built-in ones. */
  readonly moduleUrl?: string;
  readonly members: readonly {
    readonly reference: unknown;
    readonly text: string;
    readonly finish: FinishReason;
  }[];
  readonly progress: SharedArrayBuffer;
}

/** What comes back, one per member. */
export interface MemberOutcome {
  readonly verdict: Verdict;
  readonly microseconds: number;
}

const LOADING = -1;
const QUEUED = -2;

/** Milliseconds on a clock that all threads of the process share. */
function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Which member a worker is busy with and since when, in memory that both threads see: a worker stuck in a loop
 * can answer no message, but what it wrote before is there.
 */
export class JobProgress {
  readonly buffer: SharedArrayBuffer;
  readonly #member: Int32Array;
  readonly #since: Float64Array;

  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(16);
    this.#since = new Float64Array(this.buffer, 0, 1);
    this.#member = new Int32Array(this.buffer, 8, 1);
    if (!buffer) this.#member[0] = QUEUED;
  }

  /** Worker side: member `index` begins now; without index, the loading of the verifier. */
  begin(index: number = LOADING): void {
    this.#since[0] = sharedNow();
    Atomics.store(this.#member, 0, index);
  }

  /** The member being judged, or undefined while the job is queued or its verifier is loading. */
  get member(): number | undefined {
    const member = Atomics.load(this.#member, 0);
    return member < 0 ? undefined : member;
  }

  /** Milliseconds the present member or the loading has taken; 0 while queued. */
  get elapsedMs(): number {
    return Atomics.load(this.#member, 0) === QUEUED ? 0 : sharedNow() - this.#since[0]!;
  }
}
