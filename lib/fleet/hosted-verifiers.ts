import { HoneError } from "../errors.ts";
import type { JobEnd, JobPlace, VerificationJob } from "../rewards/index.ts";
import { abandoned } from "../rewards/pool/worker-group.ts";
import { type Deferred, deferred } from "../shared/async/deferred.ts";
import type { StreamStore } from "../streams/index.ts";
import { CallLog } from "./call-log.ts";
import type { Membership } from "./membership.ts";
import { decodeEnd, encodeJob, type NumberedEnd } from "./messages.ts";
import { type FleetSettings, STREAMS } from "./names.ts";

export interface HostedVerifiersParts {
  readonly store: StreamStore;
  readonly membership: Membership;
  readonly settings: FleetSettings;
  /** Number of hosts that the run begins with. */
  readonly hosts: number;
}

/**
 * Sends verifier jobs to hosts: processes that each run the workers of a machine. One host leases a job. If
 * that host fails before it sends the result, another leases the job. Callers bound the jobs in flight: a pool sends no more than a host runs at a time.
 */
export class HostedVerifiers {
  readonly #parts: HostedVerifiersParts;
  readonly #log: CallLog;
  readonly #under = new Map<number, Deferred<JobEnd>>();
  readonly #closed = new AbortController();
  readonly #reading: Promise<void>;
  readonly #leaveMembership: () => void;
  #next = 0;
  #failure: Error | undefined;
  /** Time since which jobs wait and no host is alive. */
  #unservedAt: number | undefined;

  constructor(parts: HostedVerifiersParts) {
    this.#parts = parts;
    this.#log = new CallLog(parts.store, STREAMS.jobs, STREAMS.jobEnds);
    const receive = (key: string, payload: Uint8Array) => this.#forget(Number(key))?.resolve(endOf(payload));
    this.#reading = this.#log.follow(this.#closed.signal, receive).catch((error) => this.fail(error));
    this.#leaveMembership = parts.membership.onLook(() => this.#expectServed());
  }

  /** A place for one pool's jobs. @param workers number of workers on each host */
  place(workers: number): JobPlace {
    const { hosts, membership } = this.#parts;
    const own = new Set<number>();
    let isClosed = false;
    return {
      get count() {
        return Math.max(hosts, membership.hosts.length) * workers;
      },
      run: async (heapMb, job) => {
        if (isClosed) throw abandoned();
        const number = this.#next++;
        const payload = encodeJob({ number, workers, heapMb, job });
        own.add(number);
        return this.#ask(number, payload, job).finally(() => own.delete(number));
      },
      pids: () => [],
      close: async () => {
        isClosed = true;
        for (const number of own) this.#forget(number)?.reject(abandoned());
      },
    };
  }

  /** Ends all pending and later jobs with this error. */
  fail(error: Error): void {
    if (this.#failure !== undefined || this.#closed.signal.aborted) return;
    this.#failure = error;
    for (const number of [...this.#under.keys()]) this.#forget(number)!.reject(error);
  }

  async close(): Promise<void> {
    this.fail(abandoned());
    this.#closed.abort();
    this.#leaveMembership();
    await this.#reading;
  }

  #ask(number: number, payload: Uint8Array, { members }: VerificationJob): Promise<JobEnd> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const asked = deferred<JobEnd>();
    this.#under.set(number, asked);
    const size = { samples: members.length, tokens: 0 };
    this.#log.append(number, payload, size).catch((error) => this.fail(error as Error));
    return asked.promise;
  }

  /** Removes and returns a pending job; undefined if it is no longer awaited. */
  #forget(number: number): Deferred<JobEnd> | undefined {
    const asked = this.#under.get(number);
    this.#under.delete(number);
    if (asked !== undefined) this.#log.end(number);
    return asked;
  }

  #expectServed(): void {
    const { membership, settings } = this.#parts;
    const now = performance.now();
    const isServed = this.#under.size === 0 || membership.hosts.length > 0;
    this.#unservedAt = isServed ? undefined : (this.#unservedAt ?? now);
    if (this.#unservedAt === undefined || now - this.#unservedAt <= settings.gatherMs) return;
    const message = `no verifier host was alive for ${Math.round(settings.gatherMs / 1000)} s, and completions wait for one`;
    this.fail(new HoneError("HONE_ERR_COLLECTIVE", message));
  }
}

/** Decodes how a job ended; an unreadable entry counts as an infrastructure fault and is judged again. */
function endOf(payload: Uint8Array): NumberedEnd["end"] {
  try {
    return decodeEnd(payload).end;
  } catch (error) {
    return lostJob(String((error as Error).message));
  }
}

/** The result for an infrastructure fault, which leaves the completions unscored. */
export const lostJob = (cause: string): JobEnd => {
  return { kind: "lost", phase: "idle", member: undefined, elapsedMs: 0, cause };
};
