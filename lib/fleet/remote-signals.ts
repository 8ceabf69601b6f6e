import { randomUUID } from "node:crypto";
import type { StreamStore } from "../streams/index.ts";
import { REGISTERS, type Role, STREAMS } from "./names.ts";

/** Time for a node to report a signal's outcome; after it no node may send that signal. Milliseconds. */
const ANSWER_MS = 10_000;

/** Values of register `signal`; unset until an agent takes the request. */
const FATE = { taken: "taken", met: "met", missed: "missed" } as const;

/** A signal for a process, whichever node it is on. */
interface SignalRequest {
  readonly role: Role;
  readonly rank: number;
  readonly signal: NodeJS.Signals;
}

/** Asks the agents of a run for signals to their processes. */
export class RemoteSignals {
  readonly #store: StreamStore;
  readonly #answerMs: number;

  constructor(store: StreamStore, answerMs: number = ANSWER_MS) {
    this.#store = store;
    this.#answerMs = answerMs;
  }

  /**
   * Sends a signal to a process on whichever node it is. True if it met a process. False if not, or if no agent took
   * the request in time, after which none will.
   */
  async kill(role: Role, rank: number, signal: NodeJS.Signals): Promise<boolean> {
    const key = randomUUID();
    const { kv } = this.#store;
    const fate = REGISTERS.signal(key);
    const request: SignalRequest = { role, rank, signal };
    await this.#store.append(STREAMS.signals, key, Buffer.from(JSON.stringify(request)));
    const said = await kv.waitFor(fate, { waitMs: this.#answerMs, not: FATE.taken });
    if (said !== undefined) return said === FATE.met;
    return !(await kv.cas(fate, null, FATE.missed)); // an agent that took it and exited may have sent it
  }
}

/**
 * Does what the coordinator asks of this node's processes, each once, until `signal` aborts. Rejects with what the store says.
 * @param own places of this node, "actor.0"
 * @param kill signals one of them; false if there is none
 */
export async function deliverSignals(
  store: StreamStore,
  own: ReadonlySet<string>,
  kill: (role: Role, rank: number, signal: NodeJS.Signals) => boolean,
  signal: AbortSignal,
): Promise<void> {
  for (let after = 0; !signal.aborted; ) {
    const waiting = { max: 1, waitMs: 60_000, signal };
    const entries = await store.read(STREAMS.signals, after, waiting).catch((error: unknown) => {
      if (signal.aborted) return [];
      throw error;
    });
    for (const { key, payload, offset } of entries) {
      after = offset;
      const request = JSON.parse(Buffer.from(payload).toString("utf8")) as SignalRequest;
      if (!own.has(`${request.role}.${request.rank}`)) continue;
      const fate = REGISTERS.signal(key);
      if (!(await store.kv.cas(fate, null, FATE.taken))) continue; // taken by an earlier agent, or expired
      const met = kill(request.role, request.rank, request.signal);
      await store.kv.set(fate, met ? FATE.met : FATE.missed);
    }
  }
}
