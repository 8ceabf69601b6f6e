import { HostedVerifiers } from "../../lib/fleet/hosted-verifiers.ts";
import { Membership } from "../../lib/fleet/membership.ts";
import { type FleetSettings, REGISTERS, SETTINGS } from "../../lib/fleet/names.ts";
import { runVerifierHost } from "../../lib/fleet/verifier-host.ts";
import type { JobEnd, JobPlace, VerificationJob } from "../../lib/rewards/index.ts";
import { deferred } from "../../lib/shared/async/deferred.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";

export const jobOf = (...texts: readonly string[]): VerificationJob => ({
  verifier: "math",
  domain: "math",
  members: texts.map((text) => ({ reference: "2", text, finish: "eos" })),
  timeoutMs: 1000,
  loadTimeoutMs: 1000,
});

/** Judges every completion correct; the verdict's reason names the host and the text. */
export const judgedBy = (who: string, { members }: VerificationJob): JobEnd => ({
  kind: "done",
  outcomes: members.map(({ text }) => {
    return { verdict: { status: "correct", score: 1, reason: `${who}: ${text}` }, microseconds: 1 };
  }),
  limits: undefined,
});

/** The reasons in a finished job's verdicts. */
export const said = (end: JobEnd): string[] =>
  end.kind !== "done"
    ? [end.cause]
    : end.outcomes.map(({ verdict }) => ("reason" in verdict ? verdict.reason : verdict.cause));

export interface LocalHost {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  /** The jobs that the host has started and not finished. */
  readonly running: VerificationJob[];
  /** Lets the waiting jobs end. */
  readonly finish: () => void;
}

export interface LocalHosts {
  readonly store: StreamStore;
  readonly judges: HostedVerifiers;
  /** @param waits if true, its jobs wait for `finish` */
  start(index: number, generation?: number, waits?: boolean): LocalHost;
  close(): Promise<void>;
}

/** Verifier hosts in this process over an in-memory store. Their jobs end at once, or when a test ends them. */
export async function localHosts(hosts: number, settings: Partial<FleetSettings> = {}): Promise<LocalHosts> {
  const store = await openStore("memory:", { run: "test" });
  const fast = { ...SETTINGS, leaseMs: 300, beatMs: 20, gatherMs: 60_000, ...settings };
  await store.kv.set(REGISTERS.settings, JSON.stringify(fast));
  const membership = new Membership(store, fast);
  membership.watch(() => {});
  const judges = new HostedVerifiers({ store, membership, settings: fast, hosts });
  const all: LocalHost[] = [];
  const start = (index: number, generation = 1, waits = false): LocalHost => {
    const stop = new AbortController();
    const running: VerificationJob[] = [];
    const told = deferred<void>();
    if (!waits) told.resolve();
    const openPlace = (count: number): JobPlace => ({
      count,
      run: async (_, job) => {
        running.push(job);
        await told.promise;
        running.splice(running.indexOf(job), 1);
        return judgedBy(`verifier.${index}#${generation}`, job);
      },
      pids: () => [],
      close: async () => {},
    });
    const ended = runVerifierHost({ store, index, generation, openPlace, signal: stop.signal });
    ended.catch(() => {}); // a test that needs the error awaits `ended`
    const host = { stop, ended, running, finish: () => told.resolve() };
    all.push(host);
    return host;
  };
  const close = async () => {
    await judges.close();
    membership.close();
    for (const host of all) host.stop.abort();
    await Promise.allSettled(all.map(({ ended }) => ended));
    await store.close();
  };
  return { store, judges, start, close };
}
