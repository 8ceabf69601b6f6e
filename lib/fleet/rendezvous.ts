import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { HoneError } from "../errors.ts";
import { type KeyValues, openStore, type StreamStore } from "../streams/index.ts";
import { Heartbeat } from "./heartbeat.ts";
import { SETTINGS } from "./names.ts";

const BEAT_MS = SETTINGS.beatMs;

const REGISTERS = {
  /** Number of the last session. */
  session: "cluster/sitting",
  /** A lease that holds the number of the session whose coordinator is alive. */
  coordinator: "cluster/coordinator",
  /** Exit code of a session, for every agent. */
  end: (session: number) => `cluster/end/${session}`,
  /** Exit code of a launch, written when its last coordinator has exited. */
  launch: (launch: string) => `cluster/launch/${launch}`,
  /** A lease: the agent of a node. */
  node: (node: number) => `cluster/node/${node}`,
  /** Recipe that the agents of a session must share. */
  recipe: (session: number) => `cluster/recipe/${session}`,
  /** Reason why a node cannot run its processes. */
  failure: (session: number) => `cluster/failure/${session}`,
} as const;

/** Name of a session's store: each session begins with an empty one. */
export const sessionRun = (runId: string, session: number): string => `${runId}.${session}`;

/**
 * Rendezvous of the coordinator and the agents of a run: registers of a server that outlives them all. A run
 * may have several sessions, each with one coordinator; a second one at the same time is refused.
 */
export class Rendezvous implements AsyncDisposable {
  readonly runId: string;
  readonly #store: StreamStore;
  readonly #aliveMs: number;

  private constructor(runId: string, store: StreamStore, aliveMs: number) {
    this.runId = runId;
    this.#store = store;
    this.#aliveMs = aliveMs;
  }

  /** Throws HONE_ERR_USAGE if the store serves only one machine or one run; otherwise the store's error. */
  static async open(url: string, runId: string, aliveMs: number = SETTINGS.aliveMs): Promise<Rendezvous> {
    if (!/^rediss?:/.test(url))
      throw new HoneError(
        "HONE_ERR_USAGE",
        `agents need a Redis server as their store, but the store is ${url.split(":")[0]}:`,
        {
          hint: "Give --store redis://host:port, which every node reaches.",
        },
      );
    return new Rendezvous(runId, await openStore(url, { run: runId }), aliveMs);
  }

  /** Reserves the next session number. The holder may prepare; it is not the coordinator yet. */
  async sit(): Promise<number> {
    const { kv } = this.#store;
    for (;;) {
      const before = await kv.get(REGISTERS.session);
      const session = Number(before ?? 0) + 1;
      if (await kv.cas(REGISTERS.session, before ?? null, String(session))) return session;
    }
  }

  /**
   * Makes this process the session's coordinator, which agents follow from here on. Waits until the last coordinator's
   * lease has expired; throws HONE_ERR_STATE if that one is alive.
   */
  async acquireLeadership(session: number): Promise<void> {
    if (await this.#heartbeat(REGISTERS.coordinator, String(session)).acquire()) return;
    throw new HoneError("HONE_ERR_STATE", `another coordinator of ${this.runId} is alive`, {
      hint: "A run has one coordinator: end the other one, or give this one another HONE_RUN_ID.",
    });
  }

  /** Renews the coordinator's lease until `close`. @param onLost receives the error of a renewal */
  keep(session: number, onLost: (error: HoneError) => void): { close(): Promise<void> } {
    const heartbeat = this.#heartbeat(REGISTERS.coordinator, String(session));
    heartbeat.keep((error) => onLost(error as HoneError));
    return heartbeat;
  }

  /** Claims the node for one agent until `close`; waits for a dead agent's lease, throws HONE_ERR_STATE if another is alive. */
  async takeNode(node: number): Promise<{ close(): Promise<void> }> {
    const heartbeat = this.#heartbeat(REGISTERS.node(node), randomUUID());
    if (!(await heartbeat.acquire())) throw liveAgent(node, this.runId);
    heartbeat.keep(() => {}); // the node's processes report a lost server
    return heartbeat;
  }

  #heartbeat(key: string, holder: string): Heartbeat {
    const replaced = `session ${holder} of ${this.runId} has another coordinator now`;
    return new Heartbeat(
      this.#store.kv,
      { key, holder, replaced },
      { beatMs: BEAT_MS, aliveMs: this.#aliveMs },
    );
  }

  /** Recipe of the session; the first agent sets it to `own`. @param own undefined: the recipe is only read */
  async recipe(session: number, own: string | undefined): Promise<string | undefined> {
    const { kv } = this.#store;
    if (own !== undefined) await kv.cas(REGISTERS.recipe(session), null, own);
    return await kv.get(REGISTERS.recipe(session));
  }

  /** The first session after `after` with a live coordinator; undefined if there was none in time. */
  async next(after: number, waitMs: number, signal: AbortSignal): Promise<number | undefined> {
    const not = String(after);
    const found = await this.#store.kv
      .waitFor(REGISTERS.coordinator, { waitMs, not, signal })
      .catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      });
    return found === undefined || Number(found) <= after ? undefined : Number(found);
  }

  /**
   * Resolves when the session's coordinator has exited, with its exit code if its agent recorded one. The agent
   * records it after the process has exited: a caller that gave up earlier would wait for another coordinator in
   * vain.
   */
  async over(session: number): Promise<number | undefined> {
    const { kv } = this.#store;
    const end = REGISTERS.end(session);
    let goneMs = Number.POSITIVE_INFINITY;
    for (;;) {
      const nowMs = performance.now();
      const [holder, code] = [await kv.get(REGISTERS.coordinator), await kv.get(end)];
      if (code !== undefined) return Number(code);
      const another = holder !== undefined && holder !== String(session);
      if (another || nowMs - goneMs > this.#aliveMs) return undefined;
      goneMs = holder === undefined ? Math.min(goneMs, nowMs) : Number.POSITIVE_INFINITY;
      await kv.waitFor(end, { waitMs: BEAT_MS / 2 });
    }
  }

  /**
   * Records how a session ended, by default the last one, for the agents of other nodes. Does not overwrite an
   * earlier record.
   */
  async end(code: number, session?: number): Promise<void> {
    const { kv } = this.#store;
    const ended = session ?? (await kv.get(REGISTERS.session));
    if (ended !== undefined) await kv.cas(REGISTERS.end(Number(ended)), null, String(code));
  }

  /** Clears the exit code of an earlier coordinator of this launch, because another one starts. */
  async beginLaunch(launch: string): Promise<void> {
    await this.#store.kv.delete(REGISTERS.launch(launch));
  }

  /** Records how the coordinator of a launch ended, for agents of this launch that start later. */
  async endLaunch(launch: string, code: number): Promise<void> {
    await this.#store.kv.set(REGISTERS.launch(launch), String(code));
  }

  /** Resolves with how the coordinator of a launch ended, as soon as it has; undefined when `signal` aborts. */
  async endOfLaunch(launch: string, signal: AbortSignal): Promise<number | undefined> {
    const code = await firstOf(this.#store.kv, REGISTERS.launch(launch), signal);
    return code === undefined ? undefined : Number(code);
  }

  /** Reports once to the coordinator that a node cannot keep its processes running. */
  async fail(session: number, message: string): Promise<void> {
    await this.#store.kv.cas(REGISTERS.failure(session), null, message);
  }

  /** The reason for which a node has given up; undefined when `signal` aborts. */
  failure(session: number, signal: AbortSignal): Promise<string | undefined> {
    return firstOf(this.#store.kv, REGISTERS.failure(session), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
  }
}

/**
 * Resolves with a register's value once it is set; undefined when `signal` aborts. Callers that use the server report
 * its loss: a closed connection refuses at once, and asking it in a loop without a pause would block that report.
 */
async function firstOf(kv: KeyValues, key: string, signal: AbortSignal): Promise<string | undefined> {
  const pause = () => sleep(BEAT_MS, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    const said = await kv.waitFor(key, { waitMs: 60_000, signal }).catch(pause);
    if (said !== undefined) return said;
  }
  return undefined;
}

const liveAgent = (node: number, runId: string): HoneError =>
  new HoneError("HONE_ERR_STATE", `another agent of node ${node} of ${runId} is alive`, {
    hint: "A node has one agent: end the other one, or give this one another node's number, or another HONE_RUN_ID.",
  });
