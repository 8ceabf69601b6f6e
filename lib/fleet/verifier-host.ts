import { setMaxListeners } from "node:events";
import type { JobEnd, JobPlace } from "../rewards/index.ts";
import { WorkerGroups } from "../rewards/pool/worker-groups.ts";
import { deferred, Wake } from "../shared/async/deferred.ts";
import type { Lease } from "../streams/index.ts";
import { LeasedWork, MOST_DELIVERIES } from "./call-log.ts";
import { MemberHeartbeat, type MemberParts } from "./heartbeat.ts";
import { lostJob } from "./hosted-verifiers.ts";
import { fleetSettings } from "./membership.ts";
import { decodeJob, encodeEnd, type NumberedJob } from "./messages.ts";
import { type FleetSettings, STREAMS, VERIFIER_HOSTS } from "./names.ts";
import type { RoleFacts } from "./role-metrics.ts";

export interface VerifierHostParts extends MemberParts {
  /** Receives the function that reports this host's facts; called once. */
  readonly onFacts?: (facts: () => RoleFacts) => void;
  /** Opens the workers that judge. Default: processes of this machine. */
  readonly openPlace?: (workers: number) => JobPlace;
  readonly signal: AbortSignal;
}

/**
 * The main loop of a verifier host: leases jobs while it has free workers, and sends each result together with the
 * end of its lease. If it crashes, another host leases its jobs. Only its processes enforce time limits, so a queued
 * job has none. Resolves when `signal` aborts; rejects with the error that ended it, after which a new process may
 * fill its slot.
 */
export async function runVerifierHost(parts: VerifierHostParts): Promise<void> {
  const host = new VerifierHost(parts, await fleetSettings(parts.store));
  try {
    await host.run();
  } catch (error) {
    if (!parts.signal.aborted) throw error;
  } finally {
    await host.close();
  }
}

interface Held {
  /** The most recent lease: it may have expired and been granted again. */
  lease: Lease;
}

class VerifierHost {
  readonly #parts: VerifierHostParts;
  readonly #settings: FleetSettings;
  readonly #heartbeat: MemberHeartbeat;
  readonly #leases: LeasedWork;
  readonly #held = new Map<string, Held>();
  readonly #failed = deferred<never>();
  readonly #stop = new AbortController();
  #place: JobPlace | undefined;
  readonly #wake = new Wake();
  #renewal: NodeJS.Timeout | undefined;
  #judged = 0;

  constructor(parts: VerifierHostParts, settings: FleetSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#heartbeat = new MemberHeartbeat("verifier", parts, settings, () => {
      return { engines: {}, judging: { jobs: this.#held.size, judged: this.#judged } };
    });
    const { store } = parts;
    const { expectAlive } = this.#heartbeat;
    const streams = { asked: STREAMS.jobs, group: VERIFIER_HOSTS, done: STREAMS.jobEnds };
    this.#leases = new LeasedWork({ store, settings, ...streams, expectAlive });
    this.#failed.promise.catch(() => {}); // avoids an unhandled rejection: Promise.race calls handle the error
    setMaxListeners(0, this.#stop.signal);
    if (parts.signal.aborted) this.#end();
    parts.signal.addEventListener("abort", () => this.#end(), { once: true });
  }

  async run(): Promise<void> {
    await this.#heartbeat.begin(this.#fail);
    const { onFacts, generation } = this.#parts;
    onFacts?.(() => ({ judged: this.#judged, restarts: generation - 1 }));
    const renew = () => void this.#renew().catch(this.#fail);
    this.#renewal = setInterval(renew, this.#settings.leaseMs / 3);
    await Promise.race([this.#work(), this.#failed.promise]);
  }

  async close(): Promise<void> {
    this.#end();
    this.#heartbeat.stop();
    clearInterval(this.#renewal);
    const given = [...this.#held.values()].map(({ lease }) =>
      this.#leases.end(lease, "retry").catch(() => {}),
    ); // otherwise the lease expires
    await Promise.all([...given, this.#place?.close()]);
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#stop.signal.aborted) this.#failed.reject(error);
  };

  #end(): void {
    this.#stop.abort();
    this.#leases.interrupt();
    this.#wake.ring();
  }

  async #work(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (this.#held.size >= (this.#place?.count ?? 1)) await this.#wake.next;
      else for (const lease of await this.#leases.next(1)) this.#accept(lease); // one at a time: hosts share the jobs
    }
  }

  #accept(lease: Lease): void {
    const held = this.#held.get(lease.key);
    if (held !== undefined) {
      held.lease = lease;
      return;
    }
    const fresh = { lease };
    this.#held.set(lease.key, fresh);
    this.#judge(fresh).catch(this.#fail);
  }

  async #judge(held: Held): Promise<void> {
    const { key } = held.lease;
    const { end, members } = await this.#endOf(held.lease);
    if (this.#stop.signal.aborted || this.#held.get(key) !== held) return;
    this.#held.delete(key);
    this.#wake.ring();
    const payload = encodeEnd({ number: Number(key), by: this.#heartbeat.holder, end });
    await this.#leases.hand(held.lease, payload, { samples: members, tokens: 0 });
    this.#judged += members;
  }

  async #endOf({ payload, deliveries }: Lease): Promise<{ readonly end: JobEnd; readonly members: number }> {
    if (deliveries > MOST_DELIVERIES)
      return {
        end: lostJob(`${deliveries - 1} verifier hosts ended while they judged this completion`),
        members: 0,
      };
    let asked: NumberedJob;
    try {
      asked = decodeJob(payload);
    } catch (error) {
      return { end: lostJob(String((error as Error).message)), members: 0 };
    }
    const { workers, heapMb, job } = asked;
    const { openPlace = (count: number) => new WorkerGroups(count) } = this.#parts;
    this.#place ??= openPlace(workers);
    return { end: await this.#place.run(heapMb, job), members: job.members.length };
  }

  /** Renews leases. Jobs that another host holds are abandoned and their verdicts discarded. */
  async #renew(): Promise<void> {
    for (const [key, held] of [...this.#held]) {
      const { lease } = held;
      if (await this.#leases.renew(lease)) continue;
      if (this.#held.get(key) === held && held.lease === lease) this.#held.delete(key);
    }
    this.#wake.ring();
  }
}
